"""The errors of all decoders."""


class UnreadableError(Exception):
    """User data is not what its format says; the text names the place, never a value."""


class NotServedError(Exception):
    """The user's own program does not serve the format; the text is its last word."""
