"""Compares a whole bundle with what its user data says: the system, the programs that start, and the node."""

from collections.abc import Iterable, Sequence

from slipway.conformance import documents
from slipway.conformance.compare_node import compare_node
from slipway.conformance.comparison import Comparer, Comparison
from slipway.conformance.contents import extension_features
from slipway.conformance.decoders.words import starts
from slipway.conformance.equivalence import path_key
from slipway.conformance.labels import is_too_long
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.contract.feature_uses import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_UNASKED = ("groups", "password_hash", "ssh_authorized_keys", "sudo", "system", "uid")
"""What gives a user more than the bundle does, when it is there and was not asked for."""

_WHOLE = 100


def compare(bundle: bundlepb.BootstrapBundle, state: statepb.MachineState, *, windows: bool) -> Comparison:
    """Compare a bundle with what its user data says."""
    comparer = Comparer(bundle, state, windows=windows)
    comparer.message(bundle.os, state.os, "os", "")
    _files(comparer, bundle)
    _users(comparer, bundle)
    _default_user(comparer, bundle)
    _units(comparer, bundle)
    _packages(comparer, bundle)
    _disks(comparer, bundle)
    _labels(comparer, bundle)
    _Programs(comparer, bundle).compare()
    if bundle.WhichOneof("kubernetes") == "intent":
        compare_node(comparer, bundle.intent)
    _extensions(comparer, bundle)
    found = comparer.found
    found.verified -= found.failed | found.unverified
    return found


def _files(comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
    """See that files replace those that are there, and that the owners of files are there before them, and mounts."""
    accounts = {user.name for user in bundle.os.users} | {group.name for group in bundle.os.groups}
    places = [mount.path.rstrip("/") for mount in bundle.os.mounts if mount.path.startswith("/")]
    places += [(user.home or f"/home/{user.name}").rstrip("/") for user in bundle.os.users if user.name != "root"]
    key = path_key if comparer.windows else str
    early, kept = ({key(path) for path in paths} for paths in (comparer.state.early_files, comparer.state.kept_files))
    for index, file in enumerate(bundle.os.files):
        if key(file.path) in kept and not file.append:
            comparer.wrong(f"os.files[{index}], where a file is there already,", "os.files")
        if key(file.path) in early and {file.owner, file.group} & accounts:
            comparer.wrong(f"os.files[{index}], which is written before its owner is there,", "os.files")
        elif key(file.path) in early and any(file.path.startswith(f"{place}/") for place in places):
            comparer.wrong(f"os.files[{index}], which is written before the mount or home that it lies in,", "os.files")
    for kind in ("directories", "links"):
        for index, node in enumerate(getattr(bundle.os, kind)):
            if key(node.path) in early and {node.owner, node.group} & accounts:
                comparer.wrong(f"os.{kind}[{index}], which is made before its owner is there,", f"os.{kind}")
            elif key(node.path) in early and any(node.path.startswith(f"{place}/") for place in places):
                comparer.wrong(
                    f"os.{kind}[{index}], which is made before the mount or home that it lies in,", f"os.{kind}"
                )


def _users(comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
    """See that nobody gets in, or may do more, who was not asked for."""
    asked = {user.name: user for user in bundle.os.users}
    for user in comparer.state.os.users:
        wanted = asked.get(user.name)
        if wanted is None:
            comparer.more("a user", "os.users")
            continue
        said = {descriptor.name for descriptor, _ in wanted.ListFields()}
        if wanted.HasField("password_hash") and not wanted.HasField("lock_password"):
            # Unset means locked.
            comparer.fact(
                "os.users.lock_password", f"os.users[{list(asked).index(user.name)}].lock_password", user.lock_password
            )
        for descriptor, there in user.ListFields():
            if _gives(there) and descriptor.name in _UNASKED and descriptor.name not in said:
                comparer.more(f"`{descriptor.name}` of a user", "os.users")


def _default_user(comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
    """See that the image's own user goes only if the bundle says so."""
    gone = comparer.state.os.default_user == ospb.DEFAULT_USER_OMIT
    if bundle.os.users and gone and not bundle.os.HasField("default_user"):
        comparer.more("`default_user`", "os.users")


def _units(comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
    """See that a unit of which nothing is said is neither switched on nor off."""
    of_bundle = {unit.name: unit for unit in bundle.os.systemd_units}
    for unit in comparer.state.os.systemd_units:
        wanted = of_bundle.get(unit.name)
        if wanted is not None and unit.HasField("enabled") and not wanted.HasField("enabled"):
            comparer.more("`enabled` of a unit", "os.systemd.units")


def _packages(comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
    """See that the index is refreshed unasked only where something is to be installed."""
    wanted, there = bundle.os.packages, comparer.state.os.packages
    if there.update and not wanted.HasField("update") and not wanted.install:
        comparer.more("`update` of packages", "os.packages")


def _disks(comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
    """See that a partition of which no size is said takes the rest of its disk."""
    there = {disk.device: list(disk.partitions) for disk in comparer.state.os.disks}
    for index, disk in enumerate(bundle.os.disks):
        for number, (wanted, made) in enumerate(zip(disk.partitions, there.get(disk.device, []), strict=False)):
            if wanted.HasField("percentage") or wanted.HasField("size_mib"):
                continue
            others = sum(part.percentage for part in disk.partitions)
            is_another_share = made.HasField("percentage") and made.percentage != _WHOLE - others
            if is_another_share or made.size_mib:
                where = f"os.disks[{index}].partitions[{number}], which is the rest of the disk,"
                comparer.wrong(where, "os.storage.disks.partitions")


def _labels(comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
    """See that no label is written that its filesystem does not hold: it had to be refused."""
    for index, filesystem in enumerate(bundle.os.filesystems):
        if is_too_long(filesystem):
            where = f"os.filesystems[{index}].label, which is longer than its kind of filesystem holds,"
            comparer.wrong(where, "os.storage.filesystems.label")


def _extensions(comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
    """See that the documents of extensions are there as they are, in their order, where the decoder reports them."""
    for id_ in dict.fromkeys(extension.id for extension in bundle.extensions):
        feature = f"ext.{id_}"
        own = [extension for extension in bundle.extensions if extension.id == id_]
        kind = own[0].media_type
        wanted = [documents.read(comparer.contents.bytes_of(item.content) or b"", item.media_type) for item in own]
        there = [documents.reported(other.text, kind) for other in comparer.state.others if other.name == feature]
        same = wanted == there or documents.joined(wanted) == documents.joined(there)
        where = f"extensions[{list(bundle.extensions).index(own[0])}].content"
        if None in wanted:
            comparer.found.unverified.add(feature)
        else:
            comparer.fact(feature, where, same)


def _gives(value: object) -> bool:
    """Whether a value gives something: a password that begins so locks the account instead."""
    if isinstance(value, secretpb.SecretValue):
        return bool(value.value) and not value.value.startswith(("!", "*"))
    return bool(value)


class _Programs:
    """What is started, and in which order."""

    def __init__(self, comparer: Comparer, bundle: bundlepb.BootstrapBundle) -> None:
        self._to = comparer
        self._bundle = bundle
        self._there = [list(program.argv) for program in comparer.state.programs]

    def compare(self) -> None:
        """Compare all of them."""
        self._commands()
        self._boot()
        entry = self._bundle.plan.entrypoint
        if entry.argv:
            self._started(list(entry.argv), "plan.entrypoint.argv", "plan.entrypoint")
        services = (one for one in self._to.state.programs if entry.argv and starts(list(one.argv), list(entry.argv)))
        service = next(services, statepb.Program())
        if service.start == statepb.START_EARLY:
            self._to.wrong("plan.entrypoint, which starts before files and network are there,", "plan.entrypoint")
        if entry.unit_name and service.unit_name:
            holds = entry.unit_name == service.unit_name
            self._to.fact("plan.entrypoint", "plan.entrypoint.unit_name", holds)
        if entry.after_units:
            holds = set(entry.after_units) <= set(service.after_units)
            self._to.fact("plan.entrypoint.after_units", "plan.entrypoint.after_units", holds)
        if entry.drop_ins:
            holds = list(entry.drop_ins) == list(service.drop_ins)
            self._to.fact("plan.entrypoint.drop_ins", "plan.entrypoint.drop_ins", holds)

    def _commands(self) -> None:
        found = []
        for index, line in enumerate(self._bundle.plan.entrypoint.commands):
            text = ["sh", "-c", "".join(segment.text or segment.extension.text for segment in line.segments)]
            if not any(segment.HasField("fact") for segment in line.segments):
                self._started(text, f"plan.entrypoint.commands[{index}]", "plan.entrypoint.commands")
                found.append(text)
            for feature in extension_features("plan.entrypoint", line.segments):
                self._to.fact(feature, f"plan.entrypoint.commands[{index}]", text in self._there)
        self._ordered(found, "plan.entrypoint.commands", "plan.entrypoint.commands")

    def _boot(self) -> None:
        found = []
        for index, command in enumerate(self._bundle.commands.boot):
            script = self._to.contents.bytes_of(command.script) if command.HasField("script") else None
            # What is not UTF-8 is no argument of any program: a format that takes it has changed it.
            text = _text(script or b"")
            argv = list(command.argv) or ["sh", "-c", text or ""]
            again = (bool(command.argv) or text is not None) and any(
                starts(list(one.argv), argv) and one.start != statepb.START_FIRST_BOOT
                for one in self._to.state.programs
            )
            self._to.fact("os.commands.boot", f"commands.boot[{index}]", again)
            if again:
                self._below(self._bundle.commands, f"boot[{index}]")
            found.append(argv)
        self._ordered(found, "commands.boot", "os.commands.boot")

    def _below(self, commands: planpb.Commands, path: str) -> None:
        """Take in the features of a command that was found: its form was compared as a whole."""
        found = self._to.found
        found.verified.add("os.commands")
        whole = bundlepb.BootstrapBundle(commands=commands)
        ids = {use.id for use in uses(whole) if use.path.startswith(f"commands.{path}")}
        found.verified |= {id_ for id_ in ids if self._to.sees(id_)}

    def _started(self, argv: list[str], where: str, feature: str) -> None:
        self._to.fact(feature, where, any(starts(one, argv) for one in self._there))

    def _ordered(self, wanted: Sequence[list[str]], where: str, feature: str) -> None:
        there = iter(self._there)
        missing = [argv for argv in wanted if not any(starts(one, argv) for one in self._there)]
        if len(wanted) > 1 and not missing and not all(_comes(argv, there) for argv in wanted):
            self._to.fact(feature, f"the order of {where}", holds=False)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _comes(argv: list[str], there: Iterable[list[str]]) -> bool:
    return any(starts(one, argv) for one in there)
