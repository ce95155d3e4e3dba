"""Hostile values for every string of a spec, found by walking the contract's descriptors.

Each value says where it was put, in the name of the file that it would make were it ever executed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import ORIGIN, plan
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import os_pb2 as ospb

# "@" becomes the number of the place. A line and a word hold at once what shell, Jinja, systemd and TOML would read in
# them: every field takes all of it or nothing, and a value that anybody has read is no longer there byte for byte.
SHELL = '\'; touch /canary-@; "$(touch /canary-@)" `touch /canary-@` \\ ${x} #'
_JINJA = "{{ 7 * 7 }}@{% raw %}{# c #}${#a[@]} {{ ds.meta_data.local_hostname }}"
_SYSTEMD = "%h %% %n @ $HOME ${PATH} $$ \\x41 ;x"
_TOML = "\"\"\" ''' @ ] [x] = \\u0041 \\"
FAMILIES = {
    "yaml": "- \"x@\": 'y' # &a *b !!c | > %d {e} [f]",
    "line": f"{SHELL} {_JINJA} {_SYSTEMD} {_TOML}",
    "word": "';touch${IFS}/canary-@;$(touch${IFS}/canary-@)`touch${IFS}/canary-@`{{7*7}}{%raw%}@${#a[0]}",
    "shell-path": '/var/it\'s $(touch /canary-@)`id`/"a";b|c&d',
    "url": "https://h.example:80/@/$(touch$IFS/canary-@)/';x'?a=$HOME&b=%h%%&[c]=*!#x",
    "newlines": "a@\nruncmd: [touch /canary-@]\n\n[Install]\n  touch /canary-@\n",
    "blanks": "  \t@  two  \t ",
    "nul": "a@\x00b",
    "controls": "a@\x1b[2J\x07\u202eb\u200bc\u0085d\u2028\ufeffé\U0001f6a2",
    "long": "@" + "long" * 900,
}
# Never filled in, each with its reason.
LEFT_OUT = {
    "Command.script": "a script is code: it is executed as it stands",
    "ConfigMapReference": "stands in no bundle: the value is put in its place before",
    "Compliance": "reaches no machine but in the evidence, of which `test_evidence` has hostile texts",
    "RemoteContent": "would be downloaded",
    "ExtensionText": "is a template: it is rendered as it stands",
    "Agent": "names a release, which a bootstrapper refuses unless it is signed, and where it is downloaded from",
    "Extension": "belongs to a provisioner, which merges it as it stands",
    "ProvisionerChoice": "chooses the provisioner of the test",
    "Target": "chooses what the machine is",
    "Imported": "is nothing that a person writes",
    "Origin": "is nothing that a person writes",
    "MachineBootstrapSpec.optional_features": "names features",
    "RoleOverrides": "holds the same messages once more",
    "SecretReference": "names a secret that the request brings",
    "DirectoryMembership": "no domain is here; `test_linux_directory` has its texts",
    "DirectoryLogin": "no domain is here; `test_linux_directory` has its texts",
    "KernelArgument": "no boot loader is here",
    "Disk": "no block device is here",
    "Partition": "no block device is here",
    "PartitionReference": "no block device is here",
    "Filesystem": "no block device is here",
    "ExternalEtcd": "excludes the local etcd of the test",
    "Discovery": "a machine that joins has it",
    "KubeadmOptions.ca_path": "takes the place of the directory of certificates on a worker, of which the test asks",
    "OpaqueDocument.text": "is a document: it is read as one, and refused if it is none",
    "User.sudo": "is for sudo to read: visudo stops the bootstrap, where the runner writes the rule",
    "Machine.uid": "is not rendered",
    "Cluster.control_plane": "chooses the family of the test",
    "Cluster.namespace": "is not rendered",
}
# What a value stands behind, where cloud-init rewrites or drops what does not look like it.
_BEGINNINGS = {
    "User.ssh_authorized_keys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ",
}


@dataclass(slots=True)
class Place:
    """One string field of one message; `path` is the user's own name for it."""

    path: str
    name: str
    holder: Message = field(repr=False)
    descriptor: FieldDescriptor = field(repr=False)
    value: str = ""
    last: str = ""
    before: str | None = None

    def fill(self, value: str) -> None:
        """Put a value there."""
        beginning = _BEGINNINGS.get(self.name, "")
        self.value = self.last = value = value if value.startswith(beginning) else beginning + value
        if self.descriptor.is_repeated:
            getattr(self.holder, self.descriptor.name).append(value)
            return
        if self.holder.HasField(self.descriptor.name):
            self.before = getattr(self.holder, self.descriptor.name)
        setattr(self.holder, self.descriptor.name, value)

    def empty(self) -> None:
        """Put back what was there."""
        value, self.value = self.value, ""
        if self.descriptor.is_repeated:
            getattr(self.holder, self.descriptor.name).remove(value)
        elif self.before is None:
            self.holder.ClearField(self.descriptor.name)
        else:
            setattr(self.holder, self.descriptor.name, self.before)


def places(subject: bootstrappb.Subject) -> Iterator[Place]:
    """Every string field of what is set in a subject, and a new entry in every list of strings."""
    yield from _places(subject, "")


def string_fields() -> set[str]:
    """All string fields that a subject can reach, as "Message.field", but for those that are left out."""
    found: set[str] = set()
    _reach(bootstrappb.Subject.DESCRIPTOR, found, set())
    return found


def value_of(family: str, number: int) -> str:
    """The value of a family for one place."""
    return FAMILIES[family].replace("@", str(number))


def _left_out(field_: FieldDescriptor) -> bool:
    holder = field_.containing_type.name
    of = field_.message_type
    names = {holder, f"{holder}.{field_.name}", of.name if of else ""}
    return bool(names & LEFT_OUT.keys()) or (of is not None and of.full_name == ORIGIN)


def _reach(descriptor: Descriptor, found: set[str], seen: set[str]) -> None:
    if descriptor.full_name in seen:
        return
    seen.add(descriptor.full_name)
    for one in descriptor.fields:
        if _left_out(one):
            continue
        if one.message_type is not None:
            _reach(one.message_type, found, seen)
        elif one.type == FieldDescriptor.TYPE_STRING and not plan(descriptor)[one.number].rules.internal:
            found.add(f"{descriptor.name}.{one.name}")


def _places(message: Any, path: str) -> Iterator[Place]:
    for one in message.DESCRIPTOR.fields:
        where = f"{path}.{one.name}" if path else one.name
        if _left_out(one) or plan(message.DESCRIPTOR)[one.number].rules.internal:
            continue
        if one.message_type is not None:
            held = getattr(message, one.name)
            entries = list(held) if one.is_repeated else [held] if message.HasField(one.name) else []
            for index, entry in enumerate(entries):
                yield from _places(entry, f"{where}[{index}]" if one.is_repeated else where)
        elif one.type == FieldDescriptor.TYPE_STRING:
            if _is_excluded(message, one):
                continue
            number = f"[{len(getattr(message, one.name))}]" if one.is_repeated else ""
            yield Place(person_path(where) + number, f"{message.DESCRIPTOR.name}.{one.name}", message, one)


def _is_excluded(message: Any, one: FieldDescriptor) -> bool:
    """Whether what the message says already leaves no place for the field."""
    choice = one.containing_oneof
    if choice is not None and message.WhichOneof(choice.name) not in (None, one.name):
        return True
    if isinstance(message, ospb.User) and message.name == "root":
        return one.name == "home"  # No system moves it while it runs.
    if isinstance(message, ospb.Link):
        return one.name == "target" and message.hard  # It names a file that must be there.
    beside = message.DESCRIPTOR.fields_by_name.get("segments")
    return beside is not None and one.name != beside.name and len(message.segments) > 0
