"""The types of a profile: a benchmark's controls, each with what it demands of a machine."""

from typing import Literal, Self

from pydantic import Field, model_validator

from slipway.bootstrapper.compliance.rule import Row, Rule

Program = Literal["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"]
View = Literal["own"]
"""Who does it where an operating system does it by itself."""


class Argument(Rule):
    """An argument of a component of the control plane.

    Attributes:
        program: name of the process.
        argument: name of the argument, without dashes.
        unlike: another argument whose value it must not have.
        talos: "own" where Talos sets it by itself.
    """

    program: Program
    argument: str
    unlike: "ArgumentName | None" = None
    talos: View | None = None

    @model_validator(mode="before")
    @classmethod
    def _unlike_is_present(cls, tree: dict[str, object]) -> dict[str, object]:
        return {"present": True, **tree} if isinstance(tree, dict) and "unlike" in tree else tree


class ArgumentName(Row):
    """An argument of a program."""

    program: Program
    argument: str


class Kubelet(Rule):
    """A setting of the kubelet.

    Attributes:
        kubelet: field of a KubeletConfiguration, by its path; "" for an argument that has none.
        flag: the argument of the kubelet that means the same, and wins; "" if the kubelet has no such argument.
        talos: "own" where Talos sets it by itself.
    """

    kubelet: str = ""
    flag: str = ""
    talos: View | None = None

    @model_validator(mode="after")
    def _has_a_name(self) -> Self:
        if not (self.kubelet or self.flag):
            raise ValueError("needs kubelet, or flag")
        return self


class Plugin(Row):
    """An admission plugin of the API server that is on."""

    plugin: str


class AuditPolicy(Row):
    """The API server has an audit policy."""

    audit_policy: Literal[True]


class Encryption(Row):
    """The API server encrypts secrets at rest: at all, or with a strong provider first."""

    encryption: Literal["configured", "strong"]


class Files(Row):
    """Files, or a folder, that only some can read.

    Attributes:
        files: paths with patterns of the shell; "{etcd}" is the data directory of etcd.
        mode: the most bits that are allowed, octal.
        owner: USER:GROUP.
        repaired: a step after the bootstrap sets it, since what writes the files does not.
    """

    files: tuple[str, ...] = Field(min_length=1)
    mode: str = ""
    owner: str = ""
    repaired: bool = False

    @model_validator(mode="after")
    def _demands_one_thing(self) -> Self:
        if bool(self.mode) == bool(self.owner):
            raise ValueError("needs one of mode and owner")
        return self


class Sysctl(Row):
    """A setting of the kernel.

    Attributes:
        sysctl: name of the setting.
        value: its value.
        talos: "own" where Talos sets it by itself.
    """

    sysctl: str
    value: str
    talos: View | None = None


class Loopback(Row):
    """Who listens at a port, if anybody does, does so at a loopback address."""

    loopback: int


Requirement = Argument | Kubelet | Plugin | AuditPolicy | Encryption | Files | Sysctl | Loopback


class Control(Row):
    """A control of a benchmark.

    Attributes:
        id: its id in the benchmark.
        title: what it is about, in our words.
        severity: as the benchmark rates it; "" where it does not.
        level: the lowest level that has it.
        roles: the machines that it is about.
        requires: what it demands of a machine.
        manual: why it is for people. Nothing of it is set; what it `requires` of arguments and of settings of the
            kubelet is checked where a spec has it all.
    """

    id: str
    title: str
    severity: Literal["", "low", "medium", "high"] = ""
    level: str = "level-1"
    roles: tuple[Literal["control-plane", "worker"], ...] = ("control-plane", "worker")
    requires: tuple[Requirement, ...] = ()
    manual: str = ""

    @model_validator(mode="after")
    def _is_checked_or_manual(self) -> Self:
        if not (self.requires or self.manual):
            raise ValueError("needs requires, or manual")
        if self.manual and not all(isinstance(demand, Argument | Kubelet) for demand in self.requires):
            raise ValueError("is manual: it can require arguments and settings of the kubelet only")
        return self


class Profile(Row):
    """A benchmark.

    Attributes:
        name: by which specs ask for it; a new release of the benchmark has a new one.
        document: title of the benchmark, the source of all ids.
        version: its version.
        levels: its levels, each of which has what those before it have.
        ciphers: names of TLS ciphers that its controls share.
        controls: the controls.
    """

    name: str
    document: str
    version: str
    levels: tuple[str, ...] = Field(min_length=1)
    ciphers: tuple[str, ...] = ()
    controls: tuple[Control, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        ids = [control.id for control in self.controls]
        twice = {id_ for id_ in ids if ids.count(id_) > 1}
        if twice:
            raise ValueError(f"has {', '.join(sorted(twice))} twice")
        unknown = {control.level for control in self.controls} - set(self.levels)
        if unknown:
            raise ValueError(f"has no level {', '.join(sorted(unknown))}")
        return self

    def of_level(self, level: str) -> tuple[Control, ...]:
        """Give the controls of a level: its own, and those of the levels before it."""
        levels = self.levels[: self.levels.index(level) + 1]
        return tuple(control for control in self.controls if control.level in levels)
