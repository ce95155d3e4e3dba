"""Finds what is in user data although nothing of its bundle needs it: a file, a unit, a command, a disk, an authority.

A provisioner may add what it carries a bundle out with, such as the script that starts the entry point. That says so
itself: it holds something that the bundle says, or is named by something that does.
"""

from collections.abc import Collection, Iterator, Mapping

import yaml
from google.protobuf.message import Message

from slipway.conformance import documents
from slipway.conformance.contents import Contents, literal_text
from slipway.conformance.decoders.words import starts
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb

_SHORTEST, _SHORTEST_PATH = 6, 4
"""What is shorter stands in many a text by chance."""

_OF_EXTENSION = "ext."
"""How the name of what a decoder reports as the document of an extension begins."""

_COMMON = {"/bin/sh", "powershell.exe"}
_RELOAD, _UNITS = ["systemctl", "daemon-reload"], "/etc/systemd/system"
_NEVER = {"disks": "device", "filesystems": "device", "users": "name"}
"""What nothing else can need."""

_NAMED = {
    "groups": "name", "kernel_arguments": "argument", "kernel_modules": "name", "links": "path", "mounts": "path",
    "swaps": "path", "sysctls": "name", "systemd_units": "name",
}  # fmt: skip
"""What may be there to carry the bundle out, and the field that names it."""


def surplus(bundle: bundlepb.BootstrapBundle, state: statepb.MachineState, *, windows: bool) -> list[str]:
    """Give what is there besides the bundle, in words; never a command, which may hold anything."""
    surpluses = [
        f"an entry of {kind} is in the user data, and the bundle does not say it"
        for kind in _NEVER
        if len(getattr(state.os, kind)) > len(getattr(bundle.os, kind))
    ]
    if _authorities(state.os, bundle) > _authorities(bundle.os, bundle):
        surpluses.append("an entry of trusted_certificates is in the user data, and the bundle does not say it")
    requested = {f"{_OF_EXTENSION}{extension.id}" for extension in bundle.extensions}
    surpluses += [
        f"{name} is in the user data, and the bundle does not say it"
        for name in dict.fromkeys(other.name for other in state.others)
        if name.startswith(_OF_EXTENSION) and name not in requested
    ]
    surpluses += [
        f"{what} is in the user data, and the bundle does not say it"
        for what, there in _settings(bundle, state)
        if there
    ]
    return surpluses + [
        f"{name} is in the user data, and nothing of the bundle needs it"
        for name in _Things(bundle, state, windows=windows).unneeded()
    ]


def _authorities(system: ospb.OperatingSystem, bundle: bundlepb.BootstrapBundle) -> int:
    """Give how many authorities a system trusts: a text may hold several, and be written as one or as several."""
    texts = [Contents(bundle).bytes_of(root.certificate) or b"" for root in system.trusted_certificates]
    return sum(max(1, text.count(b"-----BEGIN ")) for text in texts)


def _settings(bundle: bundlepb.BootstrapBundle, state: statepb.MachineState) -> Iterator[tuple[str, bool]]:
    """Give what a machine has once, and whether the user data sets it unasked; a node's name may be the host's, too."""
    wanted, there = bundle.os, state.os
    name, node = there.hostname.name.value, literal_text(bundle.intent.kubernetes.node.name)
    yield "a host name", name not in ("", node) and not wanted.HasField("hostname")
    yield "a time zone", bool(there.time_zone.name) and not wanted.HasField("time_zone")
    yield "a time server", bool(there.ntp.servers or there.ntp.pools) and not wanted.HasField("ntp")
    proxy = there.proxy.http_proxy or there.proxy.https_proxy or there.proxy.no_proxy
    yield "a proxy", bool(proxy) and not (wanted.HasField("proxy") or wanted.containerd.HasField("proxy"))
    yield "a registry", bool(there.containerd.registries) and not wanted.containerd.registries


class _Things:
    """What the user data has besides the items of the bundle."""

    def __init__(self, bundle: bundlepb.BootstrapBundle, state: statepb.MachineState, *, windows: bool) -> None:
        self._bundle = bundle
        self._contents = Contents(bundle)
        self._windows = windows
        self._bundle_texts: list[str] = []
        self._added: dict[str, str] = {}
        self._whole: set[str] = set()
        self._files(state)
        for kind, key in _NAMED.items():
            asked = {getattr(one, key) for one in getattr(bundle.os, kind)}
            asked |= _swaps(bundle, state) if kind == "systemd_units" else set()
            for one in getattr(state.os, kind):
                if getattr(one, key) not in asked:
                    # A unit has each percent sign twice.
                    text = "\n".join(self._texts(one))
                    self._add(getattr(one, key), f"{text}\n{text.replace('%%', '%')}")
        asked_packages = {one.name for one in bundle.os.packages.install}
        for package in state.os.packages.install:
            if package.name not in asked_packages:
                self._add(package.name, package.name)
        self._programs(state)
        for other in state.others:
            if not other.name.startswith(_OF_EXTENSION):
                self._add(other.name, other.text)

    def unneeded(self) -> list[str]:
        """Give the names of what neither holds one of the bundle's words nor has to do with something that does."""
        words = {self._spelt(word) for word in self._words()}
        return sorted(self._added.keys() - self._whole - _needed(self._added, words))

    def _add(self, name: str, text: str) -> None:
        spelt = self._spelt(name)
        self._added[spelt] = self._added.get(spelt, "") + self._spelt(f"{name}\n{text}")

    def _files(self, state: statepb.MachineState) -> None:
        asked = {self._spelt(file.path): file for file in self._bundle.os.files}
        self._bundle_texts += [self._text(file.content) for file in asked.values()]
        self._bundle_texts += [unit.contents for unit in self._bundle.os.systemd_units]
        for file in state.os.files:
            if self._spelt(file.path) not in asked:
                self._add(file.path, self._text(file.content))
                # What is too short to be looked for in a text can still be the whole of one.
                if self._text(file.content).strip() == (literal_text(self._bundle.os.hostname.name) or "") != "":
                    self._whole.add(self._spelt(file.path))

    def _programs(self, state: statepb.MachineState) -> None:
        """Take in what is started; what a file or a unit starts is judged with that."""
        plan, boot = self._bundle.plan.entrypoint, self._bundle.commands.boot
        asked = [list(plan.argv), _RELOAD]
        asked += [list(one.argv) or ["sh", "-c", self._text(one.script)] for one in boot]
        asked += [
            ["sh", "-c", "".join(part.text or part.extension.text for part in line.segments)] for line in plan.commands
        ]
        places = [*self._bundle_texts, *self._added.values()]
        for number, program in enumerate(state.programs):
            argv = list(program.argv)
            if (
                argv
                and not any(one and starts(argv, one) for one in asked)
                and not any(all(self._spelt(word) in place for word in argv) for place in places)
            ):
                self._add(f"command {number}", "\n".join([*argv, *_units_named(argv)]))

    def _words(self) -> Iterator[str]:
        """Give what a bundle says."""
        for part in (self._bundle.os, self._bundle.plan, self._bundle.intent, self._bundle.commands):
            for text in self._texts(part):
                yield from _long(text)
        for command in self._bundle.commands.boot:
            yield from _long(self._text(command.script))
        for extension in self._bundle.extensions:
            data = self._contents.bytes_of(extension.content) or b""
            document = documents.read(data, extension.media_type)
            yield from (word for text in (*_leaves(document), *_places(document, "")) for word in _long(text))
        for one in self._bundle.secrets.secrets:
            yield from _long(one.value.decode(errors="replace"))

    def _texts(self, message: Message) -> Iterator[str]:
        for _, value in message.ListFields():
            for entry in [value] if isinstance(value, (str, bytes, int, Message)) else value:
                if isinstance(entry, str):
                    yield entry
                elif isinstance(entry, contentpb.Content):
                    yield self._text(entry)
                elif isinstance(entry, Message):
                    yield from self._texts(entry)
        if isinstance(message, kubernetespb.OpaqueDocument):
            yield from _leaves(yaml.safe_load(message.text or message.data))

    def _text(self, content: contentpb.Content) -> str:
        return (self._contents.bytes_of(content) or b"").decode(errors="replace")

    def _spelt(self, text: str) -> str:
        """Write text in one of the two ways that Windows knows."""
        return text.replace("/", "\\").lower() if self._windows else text


def _needed(added: Mapping[str, str], words: Collection[str]) -> set[str]:
    """Give what holds one of the words, names something that does, or is named by it."""
    needed: set[str] = set()
    fresh = {name for name, text in added.items() if any(word in text for word in words)}
    while fresh:
        needed |= fresh
        names = {_called(name) for name in fresh if len(name) >= _SHORTEST}
        texts = [added[name] for name in fresh]
        fresh = {
            name
            for name, text in added.items()
            if any(one in text for one in names) or (len(name) >= _SHORTEST and any(name in one for one in texts))
        } - needed
    return needed


def _called(name: str) -> str:
    """Give what others call a thing by: a unit among the files by its own name, without the folder."""
    folder, _, last = name.rpartition("/")
    return last if folder == _UNITS else name


def _units_named(argv: list[str]) -> list[str]:
    """Give the units that a command of systemctl is about, where it leaves their suffix out."""
    if argv[0].rpartition("/")[2] != "systemctl":
        return []
    return [f"{word}.service" for word in argv[2:] if "." not in word]


def _leaves(document: object) -> Iterator[str]:
    """Give the texts in a document, which may be written again in another way."""
    entries = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for entry in entries:
        yield from _leaves(entry)
    if isinstance(document, str):
        yield document


def _places(document: object, above: str) -> Iterator[str]:
    """Give where something stands in a document, and what it is called: "machine.install" and "install"."""
    for key, value in document.items() if isinstance(document, dict) else ():
        yield from (f"{above}{key}", str(key))
        yield from _places(value, f"{above}{key}.")


def _swaps(bundle: bundlepb.BootstrapBundle, state: statepb.MachineState) -> set[str]:
    """Give the units of swap space that the bundle has, which are named after a device and not after what it says."""
    sources = {mount.source for mount in bundle.os.mounts}
    there = any(mount.type == "swap" and mount.source in sources for mount in state.os.mounts)
    return {unit.name for unit in state.os.systemd_units if there and unit.name.endswith(".swap")}


def _long(text: str) -> Iterator[str]:
    stripped = text.strip()
    if len(stripped) >= (_SHORTEST_PATH if stripped.startswith("/") else _SHORTEST) and text not in _COMMON:
        yield stripped
