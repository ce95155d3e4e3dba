"""A bundle while it is being lowered, and the only ways in which a pass may change it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.os_profiles import OsProfile
from slipway.bootstrapper.os_profiles.profile import NtpClient
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.content import literal
from slipway.contract.errors import UnsupportedTarget
from slipway.contract.grammars import is_windows_path
from slipway.contract.items import Item
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

PRIVATE = 0o600
PUBLIC = 0o644


@dataclass(frozen=True, slots=True)
class Prepared:
    """A step of the phase PREPARE, at its place in the order."""

    rank: Rank
    name: str
    command: planpb.Command


@dataclass(frozen=True, slots=True)
class Staged:
    """Something that the runner installs in the phase PREPARE, at its place in the order."""

    rank: Rank
    entry: ospb.File | ospb.Directory | ospb.Link


class CannotLower(Exception):  # noqa: N818  # it is an answer, not a fault
    """A pass cannot lower an item: the machine's profile has no entry for it, or it means nothing there.

    Attributes:
        item: the item.
        problem: what is wrong with it.
        fields: paths within the item of what alone cannot be lowered; without them it can be. Often there are none.
        others: the same of further items, or again of this one, where a pass has found several at once.
    """

    def __init__(  # noqa: PLR0913  # the parts of a problem
        self,
        item: Item,
        reason: str,
        *,
        remedy: str,
        fields: Sequence[str] = (),
        field: str = "",
        alternative: str = "",
        other_formats: bool = False,
    ) -> None:
        """Name the item, why, and what the user can do. Never a value. For the others see Problem."""
        name, origin = item.feature or item.path, item.message.origin
        self.problem = Problem(
            name, item.path, reason, remedy, origin, field=field, alternative=alternative, other_formats=other_formats
        )
        super().__init__(self.problem.reason)
        self.item = item
        self.fields = tuple(fields)
        self.others: list[CannotLower] = []


@dataclass(slots=True)
class Draft:
    """The bundle in work. Passes read `bundle`, `profile` and `target`, and change things by the methods below.

    Attributes:
        bundle: the bundle; items that are lowered have been taken out of it before their pass runs.
        known_profile: what is known of the machine's distribution, or why there is no profile of it; None where
            nothing is lowered at all.
        target: the machine, completely resolved.
        staged: what the runner installs in the phase PREPARE, since something that it needs is not there before.
        prepared: steps of the phase PREPARE.
        lowered: what was lowered, for the answer.
        passes: ids of the passes that ran, in order.
        gone: items that were lowered; what depends on them is lowered too.
        ntp_clients: every client that is known, with the distributions that have it.
    """

    bundle: bundlepb.BootstrapBundle
    known_profile: OsProfile | UnsupportedTarget | None
    target: clusterpb.Target
    staged: list[Staged] = field(default_factory=list)
    prepared: list[Prepared] = field(default_factory=list)
    lowered: list[bootstrappb.Lowered] = field(default_factory=list)
    passes: list[str] = field(default_factory=list)
    gone: list[Item] = field(default_factory=list)
    ntp_clients: Mapping[NtpClient, Sequence[str]] = field(default_factory=dict, repr=False)
    _paths: set[str] | None = field(default=None, repr=False)
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)

    @property
    def profile(self) -> OsProfile:
        """What is known of the machine's distribution. Only passes ask, and only those that need to know.

        Raises:
            UnsupportedTarget: the distribution, or its version, has no profile.
        """
        if self.known_profile is None:
            raise AssertionError("a pass runs where nothing is lowered")
        if isinstance(self.known_profile, UnsupportedTarget):
            raise self.known_profile
        return self.known_profile

    @property
    def is_imported_without_profile(self) -> bool:
        """Whether nothing is known of an imported config's machine: today's renderer does not ask what it is."""
        return self.bundle.execution.literal_commands and isinstance(self.known_profile, UnsupportedTarget)

    def copy(self) -> "Draft":
        """Give a draft that can be changed without changing this one."""
        bundle = bundlepb.BootstrapBundle()
        bundle.CopyFrom(self.bundle)
        return Draft(
            bundle,
            self.known_profile,
            self.target,
            list(self.staged),
            list(self.prepared),
            list(self.lowered),
            list(self.passes),
            list(self.gone),
            self.ntp_clients,
        )

    def restore(self, earlier: "Draft") -> None:
        """Go back to an earlier copy."""
        self.bundle.CopyFrom(earlier.bundle)
        self.staged[:], self.prepared[:] = earlier.staged, earlier.prepared
        self.lowered[:], self.passes[:], self.gone[:] = earlier.lowered, earlier.passes, earlier.gone
        self.forget_paths()

    def emitted(self) -> tuple[int, int, int]:
        """Give how much there is of what passes emit: a mark to go back to."""
        return len(self.bundle.os.files), len(self.staged), len(self.prepared)

    def take_back(self, mark: tuple[int, int, int]) -> None:
        """Remove what was emitted since."""
        if self.emitted() == mark:
            return
        del self.bundle.os.files[mark[0] :]
        del self.staged[mark[1] :]
        del self.prepared[mark[2] :]
        self.forget_paths()

    def has_path(self, path: str) -> bool:
        """Return whether a file of the bundle, or something staged, has this path.

        Passes ask for every file that they write, so the paths are kept; `forget_paths` whenever items are taken out.
        """
        if self._paths is None:
            entries = [*self.bundle.os.files, *(one.entry for one in self.staged)]
            self._paths = {_folded(entry.path) for entry in entries}
        return _folded(path) in self._paths

    def forget_paths(self) -> None:
        """Look at the bundle again when a path is asked for."""
        self._paths = None
        self._numbers.clear()

    def number_after(self, stem: str) -> int:
        """Count how often a number was asked for this stem, from 1 on: what had it before need not be looked at."""
        self._numbers[stem] = self._numbers.get(stem, 0) + 1
        return self._numbers[stem]

    def _keep_path(self, path: str) -> None:
        if self._paths is not None:
            self._paths.add(_folded(path))

    def file(  # noqa: PLR0913  # a file has that many properties
        self,
        path: str,
        content: bytes | contentpb.Content,
        *,
        source: Message,
        by: str,
        mode: int = PUBLIC,
        owner: str = "root",
        group: str = "root",
    ) -> ospb.File:
        """Add a file that the provisioner itself puts there; give it. `source` is the item that it is made of."""
        made = self.bundle.os.files.add(path=path, mode=mode, owner=owner, group=group)
        made.content.CopyFrom(literal(content) if isinstance(content, bytes) else content)
        made.origin.CopyFrom(derived(source, by))
        self._keep_path(path)
        return made

    def stage(self, entry: ospb.File | ospb.Directory | ospb.Link, *, rank: Rank = Rank.FILES) -> None:
        """Have the runner install a file, directory or link in the phase PREPARE: owner, mode, append, facts and all.

        What is staged at one rank is installed together: directories, then files, then links. `entry.origin` must
        say who made it.
        """
        self.staged.append(Staged(rank, entry))
        self._keep_path(entry.path)

    def step(  # noqa: PLR0913  # a step has that many properties
        self,
        rank: Rank,
        name: str,
        *,
        source: Message,
        by: str,
        argv: Sequence[str] = (),
        script: bytes | None = None,
        timeout_seconds: int | None = None,
        redact_output: bool = False,
        reboot: bool = False,
    ) -> None:
        """Add a step to the phase PREPARE: a program with arguments, or a script for the family's shell."""
        command = planpb.Command(argv=argv)
        if script is not None:
            command.script.CopyFrom(literal(script))
        if timeout_seconds is not None:
            command.timeout.FromSeconds(timeout_seconds)
        if redact_output:
            command.redact_output = True
        if reboot:
            command.reboot = True
        command.origin.CopyFrom(derived(source, by))
        self.prepared.append(Prepared(rank, name, command))


def _folded(path: str) -> str:
    """Give a path in the one spelling by which paths are compared: Windows distinguishes neither cases nor slashes."""
    return path.replace("/", "\\").casefold() if is_windows_path(path) else path


def derived(source: Any, by: str) -> diagnosticpb.Origin:
    """Give the origin of something that `by` made out of the item `source`."""
    origin = diagnosticpb.Origin()
    origin.CopyFrom(source.origin)
    origin.made_by.append(by)
    return origin


def common_origin(items: Iterable[Item], by: str) -> diagnosticpb.Origin:
    """Give the origin of something made out of several items: that of the first."""
    return derived(next(iter(items)).message, by)
