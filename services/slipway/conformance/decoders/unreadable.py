"""The one error of all decoders."""


class UnreadableError(Exception):
    """User data is not what its format says; the text names the place, never a value."""
