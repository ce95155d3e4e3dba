"""Machines made from the contract's descriptors by hypothesis: a field that is added is in them on the day it is added.

The values come from tables, by grammar or by field, since what a machine can be is more than what is well-formed: a
file's owner exists, a name is there once. Every choice is hypothesis' own, and always the same.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from services.contract.walk import ORIGIN, items, plan
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.lowering.specs import PEM

HASH = "$6$salt$WKhNPNW5.DIvZ8Kw0BbkeIPzlp6c7sHzdlKg"
_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB"
_TEXTS = (
    "",
    "one line",
    "two\nlines\n",
    "  blanks\t \n\n",
    "{{ no }} ${template} %h `x`\r\n",
    "#cloud-config\n",
    "ü \U0001f6a2\n",
)
_UNIT = "[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"


def _reference(key: str) -> secretpb.SecretValue:
    return secretpb.SecretValue(secret_ref=secretpb.SecretReference(name="team-secrets", key=key))


# "@" becomes a number that is there once; the first user and the first group have the number 0.
BY_GRAMMAR: Mapping[str, tuple[str, ...]] = {
    "absolute-path": ("/etc/gen-@", "/srv/gen/deep/@/a b", "/opt/gen@/it's"),
    "account-name": ("root", "daemon"),
    "gecos": ("Plain Name", 'it\'s "quoted" $(id)'),
    "host": ("192.0.2.1", "host-@.example.com", "2001:db8::1"),
    "image": ("registry.example.com/pause:3.10",),
    "kernel-module": ("overlay", "br_netfilter", "nf_conntrack"),
    "login-shell": ("/bin/bash", "/usr/sbin/nologin"),
    "dns-label": ("gen-@",),
    "one-word": ("noauto", "x-gen.@=1"),
    "package-name": ("nothing-1", "nothing-2"),
    "package-version": ("1.2-@",),
    "registry-host": ("registry@.example.com:5000", "r@.example.com"),
    "systemd-unit": ("gen@.service", "gen-x@.service"),
    "systemd-drop-in": ("10-gen@.conf",),
    "sysctl": ("net.ipv4.ip_forward", "vm.max_map_count"),
    "time-zone": ("Europe/Berlin", "UTC"),
    "url": ("https://host@.example.com:8443/v2", "http://192.0.2.9:5000/@"),
}
BY_FIELD: Mapping[str, tuple[Any, ...]] = {
    "Content.text": _TEXTS,
    "Content.data": (b"", bytes(range(256)), b"a\r\nb"),
    "Segment.text": _TEXTS[1:],
    "Segment.data": (b"\x00\xff",),
    "TextSegment.text": ("gen", "node"),
    "MachineText.value": ("gen-node", "gen.example.com"),
    "SecretReference.name": ("team-secrets",),
    "SecretReference.key": ("word",),
    "File.owner": ("root", "daemon", "user-0"),
    "File.group": ("root", "daemon", "group-0"),
    "File.mode": (0o600, 0o644, 0o755, 0o2755),
    "Directory.owner": ("root", "user-0"),
    "Directory.group": ("root", "group-0"),
    "Directory.mode": (0o700, 0o755, 0o1777),
    "Link.target": ("/etc/debian_version", "/etc/issue"),
    "Link.owner": ("root", "user-0"),
    "Link.group": ("root", "group-0"),
    "Group.name": ("group-@",),
    "Group.gid": (4200,),
    "User.name": ("user-@",),
    "User.home": ("/srv/home/@", "/home/other-@"),
    "User.primary_group": ("group-0",),
    "User.groups": ("group-0", "sudo"),
    "User.uid": (1200,),
    "User.sudo": ("ALL=(ALL) NOPASSWD:ALL", "ALL=(root) /bin/ls"),
    "User.ssh_authorized_keys": (f"{_KEY} key-@", f'command="echo @" {_KEY}'),
    "User.password_hash": (secretpb.SecretValue(value=HASH), _reference("hash")),
    "Mount.source": ("LABEL=gen-@", "/dev/disk/by-label/gen@"),
    "Mount.path": ("/mnt/gen-@", "/srv/mounts/@"),
    "Mount.type": ("ext4", "xfs"),
    "Mount.dump": (0, 1),
    "Mount.pass": (0, 2),
    "Swap.path": ("/var/swap-@",),
    "Swap.size_mib": (1,),
    "SystemdUnit.contents": (_UNIT, _UNIT.replace("[Service]", "[Unit]\nDescription=100%% it's\n[Service]")),
    "SystemdDropIn.contents": ('[Service]\nEnvironment="A=%%h $x"\n', "[Unit]\nDescription=x\n"),
    "Sysctl.value": ("1", "0"),
    "KernelModule.parameters": ("hashsize=1000",),
    "RegistryCredentials.username": ("robot", 'it\'s "me"'),
    "RegistryCredentials.password": (secretpb.SecretValue(value="pass'word\""), _reference("word")),
    "TrustedCertificate.certificate": (contentpb.Content(text=PEM),),
    "RegistryEndpoint.ca": (contentpb.Content(text=PEM),),
    "Command.argv": ("it's", "$HOME", "a b"),
    "Command.script": (contentpb.Content(text="set -e\necho gen@ >>/var/log/gen\n"),),
    "Command.interpreter": (planpb.INTERPRETER_SH,),
    "Command.retries": (0, 2),
    "Duration.seconds": (60,),
}
# Never in a machine here, each with its reason.
LEFT_OUT = {
    "OperatingSystem.default_user": "the image's own user is cloud-init's; Ignition makes none",
    "OperatingSystem.disks": "no block device is here",
    "OperatingSystem.filesystems": "no block device is here",
    "OperatingSystem.kernel_arguments": "no boot loader is here; cloud-init has none",
    "File.remote": "would be downloaded; Ignition downloads before anything else is there",
    "Content.config_map_ref": "stands in no bundle: the value is put in its place before",
    "Segment.fact": "bare metal has no metadata service to ask",
    "Segment.template": "a template of cloud-init means nothing to Ignition",
    "TextSegment.fact": "bare metal has no metadata service to ask",
    "TextSegment.template": "a template of cloud-init means nothing to Ignition",
    "Command.reboot": "the machine here does not go down and up",
    "Duration.nanos": "a timeout has whole seconds",
}
_ONE_OF = {
    "Content": ("text", "data", "secret_ref", "segments"),
    "MachineText": ("value", "segments"),
    "Command": ("argv", "script"),
    "SystemdUnit": ("contents", "masked"),
}
# What means something only together with another field.
_NEEDS = {
    "Command.interpreter": "script",
    "SystemdUnit.enabled": "contents",
    "SystemdUnit.drop_ins": "contents",
    "Registry.only_endpoints": "endpoints",
    "User.lock_password": "password_hash",
}
_ROOTS = (ospb.OperatingSystem.DESCRIPTOR, planpb.Commands.DESCRIPTOR)


@cache
def specs(count: int) -> tuple[specpb.MachineBootstrapSpec, ...]:
    """So many specs; the first one says everything, the others leave things unsaid."""
    # Whatever hypothesis begins with is small: the largest ones say the most, and then what says anything new.
    complete = max(_drawn(4 * count, complete=True), key=lambda one: one.ByteSize())
    others = sorted(_drawn(8 * count, complete=False), key=lambda one: one.ByteSize(), reverse=True)
    chosen = [complete]
    while len(chosen) < count:
        known = _pairs(chosen)
        chosen.append(max(others, key=lambda one: len(_pairs([one]) - known)))
    return tuple(chosen)


def _pairs(specs: Sequence[specpb.MachineBootstrapSpec]) -> set[tuple[str, str]]:
    """Which fields stand beside each other in an item."""
    found = set()
    for spec in specs:
        for item in items(spec):
            names = sorted(said(item.message))
            found |= {(one, other) for one in names for other in names}
    return found


def _drawn(count: int, *, complete: bool) -> list[specpb.MachineBootstrapSpec]:
    found: list[specpb.MachineBootstrapSpec] = []

    @seed(1)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(_spec(complete=complete))
    def collect(made: specpb.MachineBootstrapSpec) -> None:
        found.append(made)

    collect()
    return found


def fields() -> set[str]:
    """Every field that a system or a command can say, as "Message.field", but for those left out."""
    found: set[str] = set()
    waiting = list(_ROOTS)
    seen = set()
    while waiting:
        descriptor = waiting.pop()
        if descriptor.full_name in seen:
            continue
        seen.add(descriptor.full_name)
        for one in _fields(descriptor):
            found.add(f"{descriptor.name}.{one.name}")
            if one.message_type is not None:
                waiting.append(one.message_type)
    return found


def said(message: Any) -> set[str]:
    """Every field that a message says, as "Message.field"."""
    found: set[str] = set()
    for one, value in message.ListFields():
        found.add(f"{message.DESCRIPTOR.name}.{one.name}")
        if one.message_type is not None:
            for entry in value if one.is_repeated else [value]:
                found |= said(entry)
    return found


@st.composite
def _spec(draw: st.DrawFn, *, complete: bool) -> specpb.MachineBootstrapSpec:
    made = specpb.MachineBootstrapSpec()
    _fill(made.os, draw, complete=complete)
    _fill(made.commands, draw, complete=complete)
    _number(made)
    return made


def _fields(descriptor: Any) -> list[FieldDescriptor]:
    return [
        one
        for one in descriptor.fields
        if f"{descriptor.name}.{one.name}" not in LEFT_OUT
        and not plan(descriptor)[one.number].rules.internal
        and not (one.message_type is not None and one.message_type.full_name == ORIGIN)
    ]


def _fill(message: Any, draw: st.DrawFn, *, complete: bool) -> None:
    """Say something in a message, or everything that can be said at once."""
    descriptor = message.DESCRIPTOR
    chosen = {one.name: one for one in _fields(descriptor)}
    exclusive = [[name for name in _ONE_OF.get(descriptor.name, ()) if name in chosen]]
    exclusive += [
        [one.name for one in group.fields if one.name in chosen]
        for group in descriptor.oneofs
        if len(group.fields) > 1 and descriptor.name not in _ONE_OF
    ]
    for group in filter(None, exclusive):
        kept = draw(st.sampled_from(group))
        chosen = {name: one for name, one in chosen.items() if name not in group or name == kept}
    for name, one in sorted(chosen.items(), key=lambda pair: f"{descriptor.name}.{pair[0]}" in _NEEDS):
        rules = plan(descriptor)[one.number].rules
        needed = rules.required or any(name in group for group in exclusive) or name == "content"
        if not needed and not complete and not draw(st.booleans()):
            continue
        other = _NEEDS.get(f"{descriptor.name}.{name}")
        if other and (other not in chosen or not _said(message, other)):
            continue
        if not one.is_repeated:
            _set(message, one, _value(message, one, draw, complete=complete))
            continue
        for _ in range(draw(st.integers(1, 3))):
            value = _value(message, one, draw, complete=complete)
            if one.message_type is not None or value not in getattr(message, name):
                getattr(message, name).append(value)


def _said(message: Any, name: str) -> bool:
    return name in {one.name for one, _ in message.ListFields()}


def _set(message: Any, one: FieldDescriptor, value: Any) -> None:
    if one.message_type is not None:
        getattr(message, one.name).CopyFrom(value)
    else:
        setattr(message, one.name, value)


def _value(message: Any, one: FieldDescriptor, draw: st.DrawFn, *, complete: bool) -> Any:
    rules = plan(message.DESCRIPTOR)[one.number].rules
    words: Any = BY_FIELD.get(f"{message.DESCRIPTOR.name}.{one.name}") or BY_GRAMMAR.get(rules.format)
    if words is not None:
        return draw(st.sampled_from(words))
    if one.message_type is not None:
        made = getattr(message, one.name).add() if one.is_repeated else type(getattr(message, one.name))()
        if one.is_repeated:
            del getattr(message, one.name)[-1]
        _fill(made, draw, complete=complete)
        return made
    if one.enum_type is not None:
        return draw(st.sampled_from([value.number for value in one.enum_type.values if value.number]))
    if one.type == FieldDescriptor.TYPE_BOOL:
        return draw(st.booleans())
    raise AssertionError(f"say in BY_FIELD or BY_GRAMMAR what {message.DESCRIPTOR.name}.{one.name} may be")


def _number(spec: specpb.MachineBootstrapSpec) -> None:
    """Give each name its number, and leave every other item with a name that is there already out."""
    # What is referred to is there; and which number a user gets depends on who is there already.
    _ = spec.os.users or spec.os.users.add()
    _ = spec.os.groups or spec.os.groups.add()
    for number, user in enumerate(spec.os.users):
        user.name, user.uid = f"user-{number}", 1200 + 100 * number
    for number, group in enumerate(spec.os.groups):
        group.name, group.gid = f"group-{number}", 4200 + number
    for mount in spec.os.mounts:
        if "noauto" not in mount.options:
            mount.options.append("noauto")  # There is nothing to mount.
    for command in (*spec.commands.boot, *spec.commands.pre, *spec.commands.post):
        if command.argv:
            command.argv.insert(0, "record")
    counter = iter(range(1000, 10**6))
    _replace(spec, lambda text: text.replace("@", str(next(counter))) if "@" in text else text)


def _replace(message: Message, change: Callable[[str], str]) -> None:
    for one, value in list(message.ListFields()):
        if one.message_type is not None:
            for entry in value if one.is_repeated else [value]:
                _replace(entry, change)
        elif one.type == FieldDescriptor.TYPE_STRING:
            if one.is_repeated:
                value[:] = [change(text) for text in value]
            else:
                setattr(message, one.name, change(value))
