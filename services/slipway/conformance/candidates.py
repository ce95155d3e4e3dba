"""Other values of a field: what its rules allow, what needs quoting, and what looks like something else."""

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from slipway.contract.field_plans import plan
from slipway.contract.grammars import grammars

_JOINED = frozenset({"no_proxy", "options", "sudo"})
"""Lists that systems write with commas between their entries."""

_TEXTS = (
    'it\'s "one" #1: $y ${z} %s %% {{ v }} [w] \\ & <b> `c` ü, two  blanks;|',
    "a 'b' \"c\", d",
    '"key": "value", # no comment',
    'it\'s "so" $x %d (y) & z',
    "o'hara",
    "a,b;c=d:e",
    "two  blanks ",
    "100%s",
    "Upper.Case_1-x",
    "Upper-Case",
    "yes",
    "1e3",
    "017",
    "0x1F",
    "1.10",
    "null",
    "~",
    "a\tb\x07c\x7f",
    "a\x85b\u2028c\ufeff \U0001f600",
    "one\ntwo\n",
    "2001:db8::7",
    "192.0.2.77",
    "2001:db8:7::/48",
    "docker.io",
)
_URLS = (
    "https://mirror-7.example.com:5443/v2/a%20b",
    "https://[2001:db8::7]:5000",
    "http://192.0.2.77:8080/",
    "https://name-7.example.com",
)
SPECIAL = {
    "cidr": ("172.20.0.0/16", "10.96.77.128/12", "192.168.7.224/27", "fd00:10:96::/112"),
    "registry-host": ("docker.io",),
}
"""Names that systems treat unlike others, by the grammar of their fields; networks that end elsewhere than at a dot."""

MEANINGS = {
    "Filesystem.format": ("btrfs", "f2fs", "swap", "vfat"),
    "Mount.options": ("noauto", "nofail", "_netdev", "x-systemd.automount", "ro", "bind"),
    "Mount.type": ("nfs", "vfat"),
}
"""Words that systems do something else for than pass them on; source: fstab(5), systemd.mount(5), mkfs(8)."""

_QUOTED = re.compile(r'"([^"]+)"')
"""Words that the description of a grammar gives, where it allows some words only."""

_SAID = frozenset({"mode", "role", "value"})
"""What a bundle always says (FEA-012)."""

_LENGTHS = (200, 63, 31)
_DURATIONS = (Duration(seconds=2, nanos=500_000_000), Duration(nanos=1_000_000), Duration(seconds=86_400))
_NUMBERS = (0, 1, 255, 70_000, 2_000_000_000)


def others(message: Message, field: FieldDescriptor, index: int | None) -> Iterator[tuple[Any, ...]]:
    """Give other values of a field; of those that stand together the first that is allowed."""
    value = getattr(message, field.name)
    value = value if index is None else value[index]
    if _optional(field) and index is None and field.name not in _SAID:
        yield (None,)
    if field.message_type is not None:
        yield from ((duration,) for duration in _DURATIONS)
    elif field.type == FieldDescriptor.TYPE_BOOL:
        yield (not value,)
    elif field.enum_type is not None:
        yield from ((number,) for number in field.enum_type.values_by_number if number not in (0, value))
    elif isinstance(value, int):
        yield from ((number,) for number in _NUMBERS if number != value)
    elif isinstance(value, str):
        yield from ((word,) for word in allowed_words(message, field) if word != value)
        if "://" in value:
            yield from ((url,) for url in _URLS)
        # Behind the text that is there, or in front of it, where the other one stands for nothing by itself.
        texts = [text for text in _TEXTS if "," not in text or field.name not in _JOINED]
        yield from ((text, value + text, f"{value}/{text}", text + value) for text in texts)
        if field.name == "value":
            yield ("",)
        yield from ((value + "x" * (length - len(value.encode())),) for length in _LENGTHS)


def allowed_words(message: Message, field: FieldDescriptor) -> list[str]:
    """Give the words of a field's grammar, where it names some."""
    known = plan(message.DESCRIPTOR).get(field.number)
    grammar = grammars().get(known.rules.format) if known is not None else None
    return _QUOTED.findall(grammar.description) if grammar is not None else []


def _optional(field: FieldDescriptor) -> bool:
    """Whether a field may be unset by itself: its oneof, if it has one, is that of the keyword `optional`."""
    return field.has_presence and (field.containing_oneof is None or len(field.containing_oneof.fields) == 1)
