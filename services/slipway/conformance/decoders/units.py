"""systemd units as they stand in user data: their sections, and the programs that they start."""

import re
import string
from collections.abc import Iterator

from slipway.conformance.decoders.words import systemd_words
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb

Sections = dict[str, dict[str, list[str]]]
_UNIT_NAME, _SLASH = frozenset((string.ascii_letters + string.digits + ":_.").encode()), ord("/")
_OF_LINKS, _ASCII = frozenset(string.ascii_letters + string.digits + "#+-.:=@_"), 0x7F

_BLANKS = " \t\r\n"
"""What systemd takes for blanks; source: WHITESPACE in its string-util.h."""


def programs(said: Sections) -> Iterator[statepb.Program]:
    """Give the programs that a unit starts on every boot, when it is enabled, or at the first one only."""
    unit = said.get("Unit", {})
    required, ordered = (" ".join(unit.get(key, [])).split() for key in ("Requires", "After"))
    only_first = not {"1", "on", "true", "yes"}.isdisjoint(unit.get("ConditionFirstBoot", []))
    for line in said.get("Service", {}).get("ExecStart", []):
        words = systemd_words(line)
        if words:
            yield statepb.Program(
                argv=words,
                after_units=[name for name in required if name in ordered],
                start=statepb.START_FIRST_BOOT if only_first else statepb.START_EVERY_BOOT,
            )


def sections(text: str) -> Sections:
    """Give the settings of a unit by section and name, each with all its values."""
    found: Sections = {}
    section = ""
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        stripped = line.strip(_BLANKS)
        if not stripped or stripped[0] in "#;":
            continue
        if stripped.startswith("[") and stripped.endswith("]"):
            section = stripped[1:-1]
            continue
        key, _, value = stripped.partition("=")
        found.setdefault(section, {}).setdefault(key.strip(_BLANKS), []).append(value.strip(_BLANKS))
    return found


def waits_for(unit_file: Sections, unit: str) -> bool:
    """Whether a unit has another one started, and starts after it."""
    about = unit_file.get("Unit", {})
    wanted = " ".join([*about.get("Wants", []), *about.get("Requires", []), *about.get("BindsTo", [])]).split()
    return unit in wanted and unit in " ".join(about.get("After", [])).split()


def of_tag(value: str) -> str:
    """Give a label as the name of udev's link has it; source: encode_devnode_name of systemd's device-nodes.c."""
    return "".join(
        char if char in _OF_LINKS or ord(char) > _ASCII else "".join(f"\\x{byte:02x}" for byte in char.encode())
        for char in value
    )


def of_path(path: str) -> str:
    """Give a path as the name of a unit has it; source: systemd.unit(5), on escaping in unit names."""
    parts = [part for part in path.split("/") if part]
    name = "".join(
        chr(byte) if byte in _UNIT_NAME else f"\\x{byte:02x}" if byte != _SLASH else "-"
        for byte in "/".join(parts).encode()
    )
    return f"\\x2e{name[1:]}" if name.startswith(".") else name or "-"
