"""Unit files, unit names and command lines, in systemd's own grammar."""

import re
from collections.abc import Mapping, Sequence

Sections = Mapping[str, Sequence[tuple[str, str]]]

_WORD = re.compile(r"[A-Za-z0-9_/.:=,@+-]+")
_SECTION = re.compile(r"\[[^\[\]]+\]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "$": "$$", "\n": "\\n", "\t": "\\t"}
_KEPT = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.")


def unit_file(sections: Sections) -> str:
    """Give a unit file. Values are taken as they are but for "%", which systemd would expand.

    Raises:
        ValueError: a value would not stay on its line.
    """
    lines = []
    for name, entries in sections.items():
        lines.append(f"[{name}]")
        for key, value in entries:
            if not is_value(value):
                raise ValueError(f"{key} would not stay on its line")
            lines.append(f"{key}={value.replace('%', '%%')}")
    return "\n".join([*lines, ""])


def is_value(value: str) -> bool:
    """Return whether a text can be a value of a unit file."""
    return value.isprintable() and value == value.strip() and not value.endswith("\\")


def command_line(argv: Sequence[str]) -> str:
    """Give a command line for ExecStart; source: systemd.service(5), "COMMAND LINES"."""
    return " ".join(_quoted(word) for word in argv)


def _quoted(word: str) -> str:
    if _WORD.fullmatch(word):
        return word
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _bytes(char)) for char in word) + '"'


def _bytes(char: str) -> str:
    """Give a character as its bytes, each of exactly two digits: those of the text behind it stay text."""
    return "".join(f"\\x{byte:02x}" for byte in char.encode())


def escaped_path(path: str) -> str:
    """Give a path as it stands in a unit's name, as `systemd-escape --path` does; source: systemd.unit(5)."""
    trimmed = "/".join(part for part in path.split("/") if part)
    if not trimmed:
        return "-"
    out = []
    for index, byte in enumerate(trimmed.encode()):
        if byte == ord("/"):
            out.append("-")
        elif byte in _KEPT and not (index == 0 and byte == ord(".")):
            out.append(chr(byte))
        else:
            out.append(f"\\x{byte:02x}")
    return "".join(out)


def is_unit_file(contents: str) -> bool:
    """Return whether Ignition can parse the contents of a unit. It fails the boot over one that it cannot."""
    section = False
    for line in re.sub(r"\\\n", " ", contents).split("\n"):
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        if _SECTION.fullmatch(text):
            section = True
        elif not section or "=" not in text:
            return False
    return True


def has_install_section(contents: str) -> bool:
    """Return whether a unit can be enabled."""
    return any(line.strip() == "[Install]" for line in contents.split("\n"))
