"""Paths of Linux as text, as they stand in a bundle."""


def parents(path: str) -> list[str]:
    """Give the folders above a path, the root as "" first."""
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]
