"""Makes the sizes readable that stand in place of secrets: where a field is bytes, its size comes in base64."""

import base64
import re
from typing import Any

_SIZE_IN_BASE64 = re.compile(r"PD[A-Za-z0-9+/]{6,30}={0,2}")
_SIZE = re.compile(rb"<[0-9]+ bytes?>")


def readable(tree: Any) -> Any:
    """Give a tree of a redacted message in which every size is text: `<542 bytes>`."""
    if isinstance(tree, dict):
        return {key: readable(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [readable(value) for value in tree]
    if isinstance(tree, str) and len(tree) % 4 == 0 and _SIZE_IN_BASE64.fullmatch(tree):
        decoded = base64.b64decode(tree)
        return decoded.decode() if _SIZE.fullmatch(decoded) else tree
    return tree
