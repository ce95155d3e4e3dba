"""The engines that a bootstrapper has, and which of them a machine gets."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import metadata

from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.third_party import UnusableEngine, load_engines
from slipway.contract.errors import SpecInvalid, UnsupportedTarget, Violation
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

GROUP = "slipway.engines"
"""Group of Python entry points: each has the name of an engine, and names its class, which takes no arguments."""

FIELD, SPEC_FIELD = "intent.kubernetes.engine", "spec.kubernetes.engine"


class EngineTable:
    """Engines by name; the first one is that of a machine without any other choice."""

    def __init__(self, engines: Iterable[Engine], *, unusable: Iterable[UnusableEngine] = ()) -> None:
        """Make a table; `unusable` are engines of other packages that are installed and cannot be used.

        Raises:
            ValueError: two engines have the same name.
        """
        self._engines: dict[str, Engine] = {}
        for engine in engines:
            if engine.name in self._engines:
                raise ValueError(f"there are two bootstrap engines with the name {engine.name}")
            self._engines[engine.name] = engine
        self.unusable = tuple(unusable)

    def __iter__(self) -> Iterator[Engine]:
        """Give the engines in order."""
        return iter(self._engines.values())

    @property
    def names(self) -> list[str]:
        """Their names, in order."""
        return list(self._engines)

    def choose(self, kubernetes: kubernetespb.Kubernetes, cluster: clusterpb.Cluster, *, field: str = FIELD) -> Engine:
        """Give the engine that a spec names, else that of the cluster's control plane, else the first one.

        A control plane that none of the engines makes cannot be joined by a plan; the engine refuses it. `field` is
        the path by which the caller knows the name: by default that of the bundle.

        Raises:
            SpecInvalid: the spec names an engine that is not installed; the engine is installed, and cannot be used.
        """
        default = next(iter(self._engines.values()))
        if kubernetes.HasField("engine"):
            if kubernetes.engine in self._engines:
                return self._engines[kubernetes.engine]
            raise SpecInvalid(
                "the bootstrap engine of the spec is not installed, or cannot be used",
                violations=[self.not_installed(kubernetes.engine, field)],
            )
        broken = self.broken(cluster.control_plane)
        if broken is not None:
            path = "intent.cluster.control_plane" if field == FIELD else "cluster.controlPlane"
            raise SpecInvalid(
                "the bootstrap engine of the cluster's control plane cannot be used",
                violations=[broken.violation(path)],
            )
        return self._engines.get(cluster.control_plane, default)

    def broken(self, name: str) -> UnusableEngine | None:
        """Give the engine of a name that is installed and cannot be used; None where there is no such engine."""
        return next((entry for entry in self.unusable if entry.name == name and name not in self._engines), None)

    def not_installed(self, name: str, path: str) -> Violation:
        """Give the violation of a field that names an engine which the table does not have."""
        broken = self.broken(name)
        if broken is not None:
            return broken.violation(path)
        meant = did_you_mean(name, self._engines)
        remedy = f"did you mean {meant}?" if meant else f"choose {' or '.join(self._engines)}"
        return Violation(path, "is no bootstrap engine that is installed", remedy=remedy)

    def of_family(self, family: str) -> Engine | None:
        """Give the engine that makes the control planes of a family; None where none of these does."""
        return self._engines.get(family)


def check_system(engine: Engine, target: clusterpb.Target) -> None:
    """Check that an engine makes nodes on the operating system of a target.

    Raises:
        UnsupportedTarget: it does not, or it is for some distributions only, and which one it is is not stated.
    """
    families = [clusterpb.OsFamily.Name(item).removeprefix("OS_FAMILY_").lower() for item in engine.os_families]
    if target.os_family not in engine.os_families:
        raise _not_served(engine, "os_family", "must be a family", families)
    if target.os_family != clusterpb.OS_FAMILY_LINUX:
        return
    if engine.distributions and target.distribution not in engine.distributions:
        raise _not_served(engine, "distribution", "must be a distribution", sorted(engine.distributions))
    if target.distribution in engine.unserved:
        problem = f"is a distribution on which the bootstrap engine {engine.name} makes no nodes"
        raise UnsupportedTarget(
            f"the bootstrap engine {engine.name} makes no nodes on {target.distribution}",
            violations=[
                Violation(
                    "machine.target.distribution",
                    f"{problem}: {engine.unserved[target.distribution]}",
                    remedy="choose another distribution, or another engine",
                )
            ],
        )


def _not_served(engine: Engine, field: str, must: str, served: Sequence[str]) -> UnsupportedTarget:
    names = " or ".join(served)
    return UnsupportedTarget(
        f"the bootstrap engine {engine.name} makes nodes on {names} only",
        violations=[
            Violation(
                f"machine.target.{field}",
                f"{must} on which the bootstrap engine {engine.name} makes nodes",
                remedy=f"choose {names}, or another engine",
            )
        ],
        metadata={"supported": names},
    )


def built_in_engines() -> EngineTable:
    """Give the engines that come with Slipway."""
    return EngineTable([KubeadmEngine(), K0sEngine()])


@cache
def entry_points(*, group: str) -> metadata.EntryPoints:
    """Give the entry points of a group. It reads all packages, so once: while a process runs they stay the same."""
    return metadata.entry_points(group=group)


def installed_engines() -> EngineTable:
    """Give the engines that come with Slipway, and those of other packages that are installed beside it.

    An engine of another package that cannot be used is `unusable`: only who asks for it is refused.
    """
    return _with_others(tuple(entry_points(group=GROUP)))


@cache
def _with_others(entries: tuple[metadata.EntryPoint, ...]) -> EngineTable:
    """Load each engine once: one that cannot be imported would run again for every machine."""
    ours = built_in_engines()
    engines, unusable = load_engines(entries, reserved=ours.names)
    return EngineTable([*ours, *engines], unusable=unusable)
