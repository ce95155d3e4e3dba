"""The test kit for engines: it finds each kind of fault, and ours have none."""

from collections.abc import Callable, Iterable

import pytest

from slipway.bootstrapper.compilation import engine_plan
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.engine_trials.processes import problems_apart
from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.field_samples import every_field
from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.testing import (
    FORMAT,
    NAMESPACES,
    accepted_features,
    machine,
    problems,
    problems_here,
    token_problems,
)
from slipway.contract.feature_uses import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.engines.faulty_engines import (
    Advising,
    Changing,
    Counting,
    Doubled,
    Escaping,
    Foreign,
    Foreseeing,
    Hasty,
    Idle,
    Mistaken,
    Named,
    Nameless,
    Naming,
    Readable,
    Refusing,
    Relative,
    Remedied,
    Reserved,
    Revealing,
    Reversed,
    Serving,
    Sharing,
    Spaced,
    Telling,
    Trusting,
    Twice,
    Unknown,
    Unnamed,
    Unowned,
    Unversioned,
)
from tests.bootstrapper.engines.impure_engines import (
    Caching,
    Calling,
    Dated,
    Drawing,
    Environmental,
    Hashing,
    Homely,
    Host,
    Looking,
    Needing,
    Now,
    Opening,
    Plain,
    Platform,
    Seconds,
    Starting,
    Threading,
    Today,
    Uname,
    Unique,
    Unordered,
)
from tests.bootstrapper.engines.sample_machines import LABELS, k0s_machines, kubeadm_machines, kubernetes
from tests.services.controller.skiff import SkiffEngine

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("ours", "machines"), [(K0sEngine(), k0s_machines), (KubeadmEngine(), kubeadm_machines)], ids=["k0s", "kubeadm"]
)
def test_our_engines_keep_the_rules(ours: Engine, machines: Callable[[], Iterable[bundlepb.BootstrapBundle]]) -> None:
    """Whatever they declare is used and has an effect; how long an authority lives is settled when it is made."""
    idle = {"kubernetes.certificates", "kubernetes.certificates.ca_validity"}
    assert [entry for entry in problems(ours, machines()) if entry.split(" ")[0] not in idle] == []


def test_each_field_is_tried() -> None:
    """Every feature of the Kubernetes part but the facts of all machines is used by a sample, so none can be missed."""
    used = {use.id for bundle in every_field() for use in uses(bundle)}
    names = {name for name in feature_names() if name.startswith(NAMESPACES)}
    facts = ("kubernetes.role", "kubernetes.version", "kubernetes.cluster", "kubernetes.credentials")
    assert {name for name in names - used if not name.startswith(facts)} == set()


def test_the_kit_finds_a_feature_that_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bootstrapper's check does not hold, each feature that the engine does not declare is reported."""
    monkeypatch.setattr(engine_plan, "unsupported", lambda *_, **__: [])
    results = list(accepted_features(Plain()))
    assert "kubernetes.node.taints is not declared, and is not refused" in results
    assert "engine_options.k0s is not declared, and is not refused" in results
    assert not any(entry.startswith("kubernetes.node.labels ") for entry in results)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (Changing, "changes the bundle"),
        (Counting, "another plan for the same bundle"),
        (Idle, "kubernetes.node.taints is declared, and changes no plan"),
        (Unknown, "kubernetes.node.zebra is declared, and the contract has no such feature"),
        (Unknown, "kubernetes.node.zebra is declared, and no machine uses it"),
        (Remedied, "has a remedy for where it is not taken"),
        (Readable, "others than its owner can read it"),
        (Foreign, "a secret that the bundle does not have"),
        (Named, "gives another plan for a machine of another name"),
        (Unowned, "files[0] has no mode"),
        (Doubled, "is the id of steps[0], too"),
        (Doubled, "is not the phase BOOTSTRAP"),
        (Trusting, "is declared for workers"),
        (Refusing, "is refused: is not liked"),
        (Serving, "ROLE_INIT and ROLE_WORKER get the same steps, and the same files but for secrets"),
        (Escaping, "steps[0].id must be"),
        (Relative, "files[0].path must be"),
        (Reserved, "files[0].path lies in a folder of Slipway's"),
        (Twice, "files[1] has the path of files[0]"),
        (Naming, "the step a has the name of a secret in its arguments"),
        (Telling, "the file /etc/plain has a private key as text"),
        (Revealing, "the step a has the value of a secret as text"),
        (Unnamed, "its name is not a DNS label"),
        (Spaced, "its name is not a DNS label"),
        (Unversioned, "its version is not a version"),
        (Reversed, "its newest version of Kubernetes is older than its oldest"),
        (Advising, "kubernetes.nope has a remedy, and the contract has no such feature"),
        (Mistaken, "the result names another engine"),
        (Nameless, "ROLE_CONTROL_PLANE is the secret slipway.dev/other, which the engine does not declare"),
        (Sharing, "is in the same Secret for two machines"),
        (Sharing, "does not hold what was drawn for the machine"),
        (Hasty, "is not accepted for as long as was asked"),
        (Hasty, "is written again although nothing has changed"),
        (Hasty, "is not refreshed when half of its time is over"),
        (Foreseeing, "is made by the cluster, and known before it is there"),
    ],
)
def test_the_kit_finds_a_fault(broken: type[Engine], words: str) -> None:
    """Of an engine that has none otherwise."""
    assert any(words in entry for entry in problems_here(broken(), _machines(broken())))


def test_the_engine_of_which_the_others_are_made_has_no_fault() -> None:
    """Neither here nor in other processes."""
    assert problems(Plain(), _machines(Plain())) == []


APART = {
    Opening: "asks the machine for open",
    Caching: "asks the machine for open",
    Calling: "asks the machine for socket.getaddrinfo",
    Threading: "asks the machine for open",
    Starting: "asks the machine for subprocess.Popen",
    Environmental: "asks the machine for os.environ",
    Looking: "asks the machine for os.stat",
    Uname: "asks the machine for os.uname",
    Platform: "asks the machine for platform.node",
    Host: "asks the machine for socket.gethostname",
    Seconds: "asks the machine for time.time",
    Today: "asks the machine for date.today",
    Now: "asks the machine for datetime.now",
    Drawing: "asks the machine for os.urandom",
    Unordered: "the file /etc/plain differs",
    Hashing: "the file /etc/plain differs",
    Unique: "the file /etc/plain differs",
    Dated: "the file /etc/plain differs",
    Homely: "the file /etc/plain differs",
    Needing: "cannot be made without arguments in another process: TypeError",
}
"""Faults that only another process shows, and what is said of them."""


def test_the_kit_finds_what_another_process_shows() -> None:
    """Each fault by itself; an engine without one is silent in the same two processes."""
    faulty = [Plain(), *(fault(0) if fault is Needing else fault() for fault in APART)]
    sound, *results = problems_apart([(engine, _machines(Plain())) for engine in faulty], FORMAT)
    assert sound == []
    missed = {
        fault.__name__: entries
        for (fault, words), entries in zip(APART.items(), results, strict=True)
        if not any(words in entry for entry in entries)
    }
    assert missed == {}


def test_an_engine_whose_cluster_makes_the_token_keeps_the_rules() -> None:
    """It is never asked for the upkeep of one."""
    assert list(token_problems(SkiffEngine())) == []


def test_the_kit_finds_a_feature_that_is_not_declared() -> None:
    """A machine that uses it is no machine of this engine."""
    engine = Plain()
    tainted = kubernetes(node={**LABELS, "taints": {}})
    results = problems(engine, [machine(engine, clusterpb.ROLE_WORKER, kubernetes=tainted)])
    assert any("kubernetes.node.taints, which the engine does not declare" in entry for entry in results)


def _machines(engine: Engine) -> list[bundlepb.BootstrapBundle]:
    features = {support.id for support in engine.features}
    node = {**LABELS, **({"taints": {}} if "kubernetes.node.taints" in features else {})}
    made = machine(engine, clusterpb.ROLE_WORKER, kubernetes=kubernetes(node=node))
    made.secrets.secrets.add(name="s", key="k", value=b"abcdef.0123456789abcdef")
    return [made]
