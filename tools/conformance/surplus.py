"""Finds what is in user data although nothing of its bundle needs it: a file, a unit, a disk, an authority.

A provisioner may add what it carries a bundle out with, such as the script that starts the entry point. That says so
itself: it holds something that the bundle says, or is named by something that does.
"""

from collections.abc import Collection, Iterator, Mapping

from google.protobuf.message import Message

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from tools.conformance.contents import Contents

_SHORTEST = 6
"""What is shorter stands in many a text by chance."""

_COMMON = {"/bin/sh", "powershell.exe"}
_NEVER = {"disks": "device", "filesystems": "device", "trusted_certificates": "", "users": "name"}
"""What nothing else can need."""


def surplus(bundle: bundlepb.BootstrapBundle, state: statepb.MachineState, *, windows: bool) -> list[str]:
    """Give what is there besides the bundle, in words; of a bundle that asks for little more than files or a node."""
    system, contents = state.os, Contents(bundle)
    found = [
        f"an entry of {kind} is in the user data, and the bundle does not say it"
        for kind in _NEVER
        if len(getattr(system, kind)) > len(getattr(bundle.os, kind))
    ]
    asked = {_spelt(file.path, windows) for file in bundle.os.files}
    asked |= {unit.name for unit in bundle.os.systemd_units}
    added = {
        path: _spelt(f"{path}\n{(contents.bytes_of(file.content) or b'').decode(errors='replace')}", windows)
        for file in system.files
        if (path := _spelt(file.path, windows)) not in asked
    }
    added |= {
        unit.name: _spelt("\n".join([unit.name, unit.contents, *(one.contents for one in unit.drop_ins)]), windows)
        for unit in system.systemd_units
        if unit.name not in asked
    }
    words = {_spelt(word, windows) for word in _words(bundle)}
    unneeded = sorted(added.keys() - _needed(added, words))
    return found + [f"{name} is in the user data, and nothing of the bundle needs it" for name in unneeded]


def _needed(added: Mapping[str, str], words: Collection[str]) -> set[str]:
    """Give what holds one of the words, names something that does, or is named by it."""
    needed: set[str] = set()
    fresh = {name for name, text in added.items() if any(word in text for word in words)}
    while fresh:
        needed |= fresh
        names = {name for name in fresh if len(name) >= _SHORTEST}
        texts = [added[name] for name in fresh]
        fresh = {
            name
            for name, text in added.items()
            if any(one in text for one in names) or (len(name) >= _SHORTEST and any(name in one for one in texts))
        } - needed
    return needed


def _words(bundle: bundlepb.BootstrapBundle) -> Iterator[str]:
    """Give what a bundle says apart from its files."""
    yield from _texts(bundle.plan)
    yield from _texts(bundle.intent)
    for one in bundle.secrets.secrets:
        yield from _long(one.value.decode(errors="replace"))


def _texts(message: Message) -> Iterator[str]:
    for _, value in message.ListFields():
        for entry in [value] if isinstance(value, (str, bytes, int, Message)) else value:
            if isinstance(entry, Message):
                yield from _texts(entry)
            elif isinstance(entry, str):
                yield from _long(entry)


def _long(text: str) -> Iterator[str]:
    if len(text.strip()) >= _SHORTEST and text not in _COMMON:
        yield text.strip()


def _spelt(text: str, windows: bool) -> str:  # noqa: FBT001  # one of two ways to write a path
    return text.replace("/", "\\").lower() if windows else text
