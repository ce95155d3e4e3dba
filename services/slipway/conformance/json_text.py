"""The encoding JSON_STRING, written from content.proto a second time, to find what the first time got wrong."""

_SHORT = {0x22: '\\"', 0x5C: "\\\\", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r"}
_NEVER = {*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF}


def json_string(text: str) -> str:
    """Give a text as a JSON string with its quotes, safe for YAML too."""
    return '"' + "".join(_SHORT.get(ord(char)) or _escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) in _NEVER else char
