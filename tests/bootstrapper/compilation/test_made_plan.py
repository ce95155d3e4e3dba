"""An engine that checks nothing is held to its declarations and to the contract all the same."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from slipway.bootstrapper.compilation.compiler import Compiler
from slipway.bootstrapper.engines.engine import Engine, supports
from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.request import root_file
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.table import EngineTable
from slipway.bootstrapper.engines.testing import FORMAT, machine
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.bootstrapper.problems.problem import Problem
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1.content_pb2 import Content

FACTS = ("kubernetes.role", "kubernetes.version", "kubernetes.cluster", "kubernetes.credentials", "kubernetes.engine")
FILE = root_file("/etc/raft", Content(data=b"x"), mode=0o600, made_by="raft")
STEP = planpb.Step(id="raft", phase=planpb.PHASE_BOOTSTRAP, command=planpb.Command(argv=["raft"]))


class Careless(Engine):
    """Gives what it was made with for every machine, and checks nothing."""

    name, version = "raft", "1.0.0"
    oldest, newest = (1, 30), (1, 34)
    os_families = (clusterpb.OS_FAMILY_LINUX,)
    features = supports(frozenset(entry.id for entry in K0sEngine.features if entry.id.startswith(FACTS)))
    remedies: Mapping[str, str] = MappingProxyType({})
    join_tokens = K0sEngine.join_tokens

    def __init__(self, *files: ospb.File, steps: tuple[planpb.Step, ...] = (STEP,)) -> None:
        """Make it."""
        self.result = EngineResult(self.name, files=files, steps=steps)

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> tuple[secretpb.SecretDeclaration, ...]:
        """Declare those of k0s."""
        return tuple(K0sEngine().secrets(kubernetes))

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give it."""
        return self.result


def refusals(engine: Engine, bundle: bundlepb.BootstrapBundle) -> list[Problem]:
    """Give what is refused of a machine of an engine."""
    compiler = Compiler(engines=EngineTable([engine]), profiles=ProfileTable.shipped(), passes=all_passes())
    return compiler.compile(bundle, FORMAT).refusals


def worker(version: str = "v1.32.0", *, cluster: str = "v1.32.0", plane: str = "raft") -> bundlepb.BootstrapBundle:
    """Give a worker of the engine."""
    made = machine(Careless(), clusterpb.ROLE_WORKER, kubernetes_version=version)
    made.intent.cluster.kubernetes_version, made.intent.cluster.control_plane = cluster, plane
    return made


@pytest.mark.parametrize(
    ("bundle", "path", "words"),
    [
        (worker("v1.29.9"), "intent.kubernetes_version", "older than v1.30 is not supported"),
        (worker("one"), "intent.kubernetes_version", "not a Kubernetes version"),
        (worker("v1.33.0"), "intent.kubernetes_version", "newer than its control plane"),
        (worker("v1.30.0", cluster="v1.34.0"), "intent.kubernetes_version", "too old for its control plane"),
        (worker(plane="kubeadm"), "intent.kubernetes.engine", "a control plane of kubeadm"),
    ],
)
def test_no_engine_can_forget_what_its_declarations_say(
    bundle: bundlepb.BootstrapBundle, path: str, words: str
) -> None:
    """Versions and control planes that it does not serve are refused by their field, with a remedy."""
    (problem,) = refusals(Careless(FILE), bundle)
    assert problem.path == path
    assert words in problem.message
    assert problem.remedy


def test_a_version_that_is_newer_than_the_engine_is_a_warning() -> None:
    """Once, whether or not the engine warns of it, too."""
    for engine in (Careless(FILE), K0sEngine()):
        newer = machine(engine, clusterpb.ROLE_WORKER, kubernetes_version="v1.39.0")
        compiler = Compiler(engines=EngineTable([engine]), profiles=ProfileTable.shipped(), passes=all_passes())
        compiled = compiler.compile(newer, FORMAT)
        assert compiled.refusals == []
        assert [entry.code for entry in compiled.diagnostics if "kubernetes_version" in entry.field_path] == [
            "VERSION_UNKNOWN"
        ]


def file(**fields: object) -> ospb.File:
    """Give the file with other fields; one that is None is unset."""
    made = ospb.File()
    made.CopyFrom(FILE)
    for name, value in fields.items():
        made.ClearField(name)  # type: ignore[arg-type]
        if value is not None:
            setattr(made, name, value)
    return made


def step(
    step_id: str = "raft", *, phase: planpb.Phase.ValueType = planpb.PHASE_BOOTSTRAP, **command: object
) -> planpb.Step:
    """Give a step."""
    return planpb.Step(id=step_id, phase=phase, command=planpb.Command(**(command or {"argv": ["raft"]})))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raft", "words"),
    [
        (Careless(file(path="etc/raft")), "files[0].path must be"),
        (Careless(file(path="/etc/../raft")), "files[0].path must be"),
        (Careless(file(path="")), "files[0].path must not be empty"),
        (Careless(file(path="/var/lib/slipway/run")), "files[0].path lies in a folder of Slipway's"),
        (Careless(file(path="/etc/slipway/kubeadm.yaml")), "files[0].path lies in a folder of Slipway's"),
        (Careless(FILE, file(path="/etc//raft")), "files[1]"),
        (Careless(FILE, FILE), "files[1] has the path of files[0]"),
        (Careless(file(owner=None)), "files[0] has no owner"),
        (Careless(file(mode=None)), "files[0] has no mode"),
        (Careless(file(mode=0o17777)), "files[0].mode must be"),
        (Careless(file(content=None)), "files[0] must have content"),
        (Careless(FILE, steps=(step("../20"),)), "steps[0].id must be"),
        (Careless(FILE, steps=(step(""),)), "steps[0].id must not be empty"),
        (Careless(FILE, steps=(STEP, STEP)), "steps[1].id is the id of steps[0], too"),
        (Careless(FILE, steps=(step(phase=planpb.PHASE_PRE),)), "steps[0].phase is not the phase BOOTSTRAP"),
        (Careless(FILE, steps=(step(argv=[""]),)), "steps[0].command.argv[0] must not be empty"),
        (Careless(FILE, steps=(step(argv=["raft", "a\0b"]),)), "steps[0].command.argv[1] cannot hold a NUL"),
        (Careless(FILE, steps=(step(retries=101, argv=["raft"]),)), "steps[0].command.retries must be at most"),
    ],
)
def test_a_plan_that_breaks_the_contract_is_refused(raft: Engine, words: str) -> None:
    """As a defect of the engine, before anything is made of it; the same engine with a sound plan is taken."""
    assert refusals(Careless(FILE, file(path="/etc/slipway/raft.yaml")), worker()) == []
    problems = refusals(raft, worker())
    assert {problem.path for problem in problems} == {"intent.kubernetes.engine"}
    assert any(f"breaks the contract: {words}" in problem.message for problem in problems), problems
    assert all("this is a defect of that engine" in problem.message and problem.remedy for problem in problems)
