"""A namespace that is not named is `default`: both ways to write it mean the same objects, and the same cluster."""

DEFAULT = "default"


def namespace_named(name: str) -> str:
    """Give a namespace by the one name that it has here: "" for the default one."""
    return "" if name == DEFAULT else name
