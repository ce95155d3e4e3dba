"""The test kit for engines: it finds each kind of fault, and ours have none."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import pytest
from google.protobuf import json_format

from slipway.bootstrapper.compilation import engine_plan
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.engine_trials.processes import problems_apart
from slipway.bootstrapper.engines.bootstrap_tokens import BootstrapTokens
from slipway.bootstrapper.engines.engine import Engine, supports
from slipway.bootstrapper.engines.field_samples import every_field
from slipway.bootstrapper.engines.join_tokens import Maker, Place, TokenRequest, Upkeep, Values
from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.testing import (
    FORMAT,
    NAMESPACES,
    accepted_features,
    machine,
    problems,
    problems_here,
    token_problems,
)
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.feature_uses import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
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
from tests.services.controller.skiff import SkiffEngine

FACTS = [{"fact": {"kind": kind}} for kind in contentpb.FactKind.values() if kind]
TEMPLATE = {"template": {"language": "TEMPLATE_LANGUAGE_JINJA", "text": "{{ v1.region }}"}}
TEXT = {"segments": FACTS}
ARGUMENT = {"name": "root-dir", "segments": FACTS}
FILE = {"segments": FACTS}
COMPONENT = {"arguments": [ARGUMENT]}
NODE = {
    "name": TEXT,
    "labels": [{"name": "a", "value": "b"}],
    "taints": {"items": [{"key": "k", "effect": "TAINT_EFFECT_NO_EXECUTE"}]},
    "kubeletArguments": [ARGUMENT],
    "criSocket": "unix:///run/other.sock",
    "providerId": TEXT,
    "nodeIp": TEXT,
}
CONTROL_PLANE = {
    "apiServer": COMPONENT,
    "controllerManager": COMPONENT,
    "scheduler": COMPONENT,
    "apiServerSans": ["a.example.com"],
    "advertiseAddress": TEXT,
    "audit": {"policy": FILE, "logPath": "/var/log/a/b", "maxBackups": 2},
    "encryption": {"configuration": FILE},
    "authenticationWebhook": {"kubeconfig": FILE, "cacheTtl": "5s", "version": "v1"},
    "files": [{"name": "f", "component": "scheduler", "argument": "config", "content": FILE}],
    "dns": {"disabled": True},
    "kubeProxy": {"disabled": True},
}
LABELS = {"labels": [{"name": "a", "value": "b"}]}
IMAGE = {"imageRepository": "r", "imageTag": "t"}
EXTERNAL = {"endpoints": ["https://a"], "caFile": "/c", "certFile": "/d", "keyFile": "/e"}


def kubernetes(**fields: Any) -> kubernetespb.Kubernetes:
    """Give the Kubernetes part of a spec."""
    return json_format.ParseDict(fields, kubernetespb.Kubernetes())


def k0s_machines() -> list[bundlepb.BootstrapBundle]:
    """Give machines that use everything that k0s takes."""
    engine = K0sEngine()
    token = {"endpoint": "other.example.com:6443", "token": {"secretRef": {"name": "t", "key": "k"}}}
    options = specpb.EngineOptions(k0s=specpb.K0sOptions(network_provider="calico", worker_profile="p"))
    worker = kubernetes(node=NODE, discovery={"token": token}, timeouts={"tlsBootstrap": "9s"})
    plane = kubernetes(
        node=NODE,
        controlPlane=CONTROL_PLANE,
        etcd={"local": {"arguments": [ARGUMENT]}},
        images={"repository": "r"},
        certificates={"caValidity": "32400000s", "keyAlgorithm": "KEY_ALGORITHM_ECDSA_P384"},
        timeouts={"controlPlaneComponent": "9s"},
    )
    other = kubernetes(etcd={"external": EXTERNAL}, controlPlane={"bindPort": 7443})
    joining = machine(engine, clusterpb.ROLE_CONTROL_PLANE, kubernetes=other)
    joining.intent.cluster.endpoint.port = 7443
    return [
        machine(engine, clusterpb.ROLE_INIT, kubernetes=plane, options=options),
        joining,
        machine(engine, clusterpb.ROLE_WORKER, kubernetes=worker, options=options),
    ]


def with_template(tree: Any) -> Any:
    """Give the fields of a spec with template text wherever they hold facts."""
    if tree is FACTS:
        return [*FACTS, TEMPLATE]
    if isinstance(tree, dict):
        return {key: with_template(value) for key, value in tree.items()}
    return [with_template(value) for value in tree] if isinstance(tree, list) else tree


def templated(**fields: Any) -> kubernetespb.Kubernetes:
    """Give the Kubernetes part of a spec with template text."""
    return kubernetes(**with_template(fields))


def kubeadm_machines() -> list[bundlepb.BootstrapBundle]:
    """Give machines that use everything that kubeadm takes."""
    engine = KubeadmEngine()
    environment = [{"name": "A", "value": "b"}]
    volumes = [{"name": "v", "hostPath": "/v", "mountPath": "/v"}]
    component = {**COMPONENT, "volumes": volumes, "environment": environment}
    node = {
        **NODE,
        "kubeletConfiguration": {"text": "maxPods: 50", "mediaType": "application/yaml"},
        "imagePullPolicy": "Never",
    }
    plane = templated(
        node=node,
        controlPlane={
            **CONTROL_PLANE,
            **dict.fromkeys(("apiServer", "controllerManager", "scheduler"), component),
            "bindPort": 6444,
            "dns": {"imageRepository": "r", "imageTag": "t"},
        },
        etcd={"local": {**IMAGE, "arguments": [ARGUMENT], "dataDir": "/e", "environment": environment}},
        images={"repository": "r"},
        certificates={"caValidity": "32400000s", "keyAlgorithm": "KEY_ALGORITHM_ECDSA_P384"},
        timeouts={"controlPlaneComponent": "9s", "tlsBootstrap": "9s"},
        staticPods=[{"name": "p", "manifest": FILE}],
    )
    timeouts = dict.fromkeys(("kubelet", "kubernetesApi", "etcdApi", "discovery"), "9s")
    options = {
        "featureGates": [{"name": "RootlessControlPlane", "enabled": False}],
        "bootstrapTokens": [{"token": {"value": "abcdef.0123456789abcdef"}}],
        "certificateValidity": "3240000s",
        "etcdServerSans": ["etcd.example.com"],
        "imagePullSerial": False,
        "timeouts": timeouts,
        "patches": [{"name": "etcd+merge.yaml", "content": with_template(FILE)}],
    }
    token = {"endpoint": "other.example.com:6443", "unsafeSkipCaVerification": True}
    by_file = {"path": "/d", "kubeconfig": FILE}
    bare = {"dns": {"disabled": True}, "kubeProxy": {"disabled": True}}
    return [
        machine(engine, clusterpb.ROLE_INIT, kubernetes=plane, options=kubeadm_options(**options)),
        machine(
            engine,
            clusterpb.ROLE_INIT,
            kubernetes=templated(etcd={"external": EXTERNAL}, controlPlane=bare),
        ),
        machine(engine, clusterpb.ROLE_CONTROL_PLANE, kubernetes=templated(discovery={"file": by_file})),
        machine(
            engine,
            clusterpb.ROLE_WORKER,
            kubernetes=templated(node=node, discovery={"token": token}),
            options=kubeadm_options(timeouts=timeouts, imagePullSerial=False, version="v1.33.1"),
            kubernetes_version="v1.30.2",
        ),
    ]


def kubeadm_options(**fields: Any) -> specpb.EngineOptions:
    """Give the options of kubeadm."""
    return json_format.ParseDict({"kubeadm": fields}, specpb.EngineOptions())


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
    monkeypatch.setattr(engine_plan, "unsupported", lambda *_: [])
    results = list(accepted_features(Plain()))
    assert "kubernetes.node.taints is not declared, and is not refused" in results
    assert "engine_options.k0s is not declared, and is not refused" in results
    assert not any(entry.startswith("kubernetes.node.labels ") for entry in results)


class Changing(Plain):
    """Writes into what it is given."""

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Do so."""
        made = super().build_plan(bundle, served)
        bundle.machine.name += "x"
        return made


class Counting(Plain):
    """Is not the same twice."""

    count = itertools.count()

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give another path each time."""
        made = super().file(bundle)
        made.path += str(next(self.count))
        return made


class Idle(Plain):
    """Takes taints, and does nothing with them."""

    features = (*Plain.features, *supports(frozenset({"kubernetes.node.taints"})))
    remedies = MappingProxyType({})


class Unknown(Plain):
    """Declares what the contract lacks."""

    features = (*Plain.features, *supports(frozenset({"kubernetes.node.zebra"})))


class Remedied(Plain):
    """Has a remedy for what it takes."""

    remedies = MappingProxyType({"kubernetes.node.labels": "leave it out"})


class Readable(Plain):
    """Makes a token readable by all."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give the token."""
        made = super().file(bundle)
        made.content.segments[1].secret_ref.key = "token"
        made.content.segments[1].secret_ref.name = "slipway.dev/bootstrap-token"
        return made


class Serving(Plain):
    """Has all machines serve."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give the step."""
        yield planpb.Step(id="a", phase=planpb.PHASE_BOOTSTRAP, command=planpb.Command(argv=["plain", "serve"]))


class Escaping(Plain):
    """Has a step whose id is a path."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give it."""
        for made in super().steps(bundle):
            made.id = "../20"
            yield made


class Relative(Plain):
    """Has a file without a folder."""

    path = "etc/plain"

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give it."""
        made = super().file(bundle)
        made.path = self.path
        return made


class Reserved(Relative):
    """Writes where only Slipway does."""

    path = "/var/lib/slipway/run"


class Twice(Plain):
    """Has a file twice."""

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give it."""
        made = super().build_plan(bundle, served)
        return replace(made, files=made.files * 2)


class Naming(Plain):
    """Has the token's name in its command."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give it."""
        for made in super().steps(bundle):
            made.command.argv.append(f"--token={bundle.intent.credentials.bootstrap_token.name}")
            yield made


class Revealing(Plain):
    """Has a value in its command."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give it."""
        for made in super().steps(bundle):
            made.command.argv.append("abcdef.0123456789abcdef")
            yield made


class Telling(Plain):
    """Has a key of its own in a file."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give it."""
        made = super().file(bundle)
        made.content.segments.add(data=b"-----BEGIN RSA PRIVATE KEY-----\nMIIE")
        return made


class Unnamed(Plain):
    """Has no name."""

    name = ""


class Spaced(Plain):
    """Has a name that no field can hold."""

    name = "Pl ain"


class Unversioned(Plain):
    """Has no version."""

    version = ""


class Reversed(Plain):
    """Serves no version of Kubernetes."""

    oldest = (1, 40)


class Advising(Plain):
    """Has a remedy for what is in no contract."""

    remedies = MappingProxyType({"kubernetes.nope": "leave it out"})


class Mistaken(Plain):
    """Gives the result of another engine."""

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give it."""
        return replace(super().build_plan(bundle, served), engine="other")


class Foreign(Plain):
    """Refers to a secret that is not there."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give it."""
        made = super().file(bundle)
        made.content.segments[1].secret_ref.name = "slipway.dev/other"
        return made


class Named(Plain):
    """Says that it plans by class, and puts the machine's name in a file."""

    plans_by_class = True

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give it."""
        made = super().file(bundle)
        made.path += bundle.machine.name
        return made


class Unowned(Plain):
    """Leaves the mode of a file open."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give one without."""
        made = super().file(bundle)
        made.ClearField("mode")
        return made


class Doubled(Plain):
    """Has two steps of a name, one of another phase."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give both."""
        (made,) = super().steps(bundle)
        yield made
        yield planpb.Step(id="a", phase=planpb.PHASE_POST, command=made.command)


class Trusting(Plain):
    """Gives workers the key of an authority."""

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> tuple[secretpb.SecretDeclaration, ...]:
        """Declare it so."""
        authority, *others = super().secrets(kubernetes)
        more = secretpb.SecretDeclaration()
        more.CopyFrom(authority)
        more.full_roles.append("ROLE_WORKER")
        return (more, *others)


TOKENS = Plain.join_tokens


class Nameless(Plain):
    """Joins by a secret that it does not declare."""

    join_tokens = replace(TOKENS, control_plane_secret="slipway.dev/other")


class Shared(BootstrapTokens):
    """Bootstrap tokens of which all machines have one."""

    def place(self, request: TokenRequest) -> Place:
        """Give it."""
        return Place("kube-system", "token")

    def text(self, request: TokenRequest, there: Values | None) -> str:
        """Give what was not drawn."""
        return "a"


class Sharing(Plain):
    """Joins by them."""

    join_tokens = Shared(TOKENS.worker, TOKENS.control_plane)


class Fleeting(BootstrapTokens):
    """Bootstrap tokens that last for a second."""

    def upkeep(self, request: TokenRequest, there: Values | None, *, now: datetime, ttl: timedelta) -> Upkeep:
        """Make it so."""
        return super().upkeep(request, None, now=now, ttl=timedelta(seconds=1))


class Hasty(Plain):
    """Joins by them."""

    join_tokens = Fleeting(TOKENS.worker, TOKENS.control_plane)


class Foreseen(BootstrapTokens):
    """Tokens that the cluster makes, and that are known before."""

    made_by = Maker.CLUSTER


class Foreseeing(Plain):
    """Joins by them."""

    join_tokens = Foreseen(TOKENS.worker, TOKENS.control_plane)


class Refusing(Plain):
    """Refuses what it declares."""

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Do so."""
        refusal = Problem("kubernetes.node.labels", "intent.kubernetes.node.labels[0]", "is not liked", "leave it")
        return EngineResult(self.name, refusals=(refusal,) if bundle.intent.kubernetes.node.labels else ())


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
