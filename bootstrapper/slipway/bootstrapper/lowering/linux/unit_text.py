"""Text of systemd unit files and drop-ins that passes write themselves.

Source of the escapes: systemd.unit(5) on specifiers, systemd.syntax(7) and systemd.exec(5) on quoting.
"""

from collections.abc import Iterable, Mapping


def environment_drop_in(variables: Mapping[str, str]) -> bytes:
    """Give a drop-in that sets environment variables of a service."""
    lines = [f"Environment={quoted(f'{name}={value}')}" for name, value in variables.items()]
    return section("Service", lines)


def section(name: str, lines: Iterable[str]) -> bytes:
    """Give a section of a unit file."""
    return "".join(f"{line}\n" for line in [f"[{name}]", *lines]).encode()


def quoted(word: str) -> str:
    """Give a word in quotes; backslashes, quotes and specifiers lose their meaning."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
