"""The test kit for engines: it finds each kind of fault, and ours have none."""

import itertools
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from google.protobuf import json_format

from slipway.bootstrapper.compilation import engine_plan
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.engines.bootstrap_tokens import BootstrapTokens
from slipway.bootstrapper.engines.engine import Engine, supports
from slipway.bootstrapper.engines.field_samples import every_field
from slipway.bootstrapper.engines.join_tokens import Maker, Place, TokenRequest, Upkeep, Values
from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.k0s.features import FEATURES
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.testing import NAMESPACES, accepted_features, machine, problems, token_problems
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
FACTUAL = ("kubernetes.role", "kubernetes.version", "kubernetes.cluster", "kubernetes.credentials", "kubernetes.engine")
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


class Plain(Engine):
    """An engine without a fault, which others are made of; it takes labels."""

    name = "plain"
    version = "1"
    oldest, newest = (1, 27), (1, 36)
    os_families = (clusterpb.OS_FAMILY_LINUX,)
    features = supports(
        frozenset(entry for entry in FEATURES if entry.startswith((*FACTUAL, "kubernetes.node.labels")))
    )
    remedies: Mapping[str, str] = MappingProxyType({"kubernetes.node.taints": "leave it out"})
    join_tokens = K0sEngine.join_tokens

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> tuple[secretpb.SecretDeclaration, ...]:
        """Declare those of k0s."""
        return tuple(K0sEngine().secrets(kubernetes))

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give a file and a step."""
        return EngineResult(self.name, files=(self.file(bundle),), steps=tuple(self.steps()))

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give a file with the labels and a secret."""
        labels = ",".join(label.name for label in bundle.intent.kubernetes.node.labels)
        authority = bundle.intent.credentials.cluster_ca.certificate
        segments = [contentpb.Segment(data=labels.encode()), contentpb.Segment(secret_ref=authority)]
        content = contentpb.Content(segments=segments)
        return ospb.File(path="/etc/plain", owner="root", group="root", mode=0o644, content=content)

    def steps(self) -> Iterable[planpb.Step]:
        """Give the step."""
        yield planpb.Step(id="a", phase=planpb.PHASE_BOOTSTRAP)


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


class Reading(Plain):
    """Looks at the machine that it runs on."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Read a file there."""
        Path(__file__).read_bytes()
        return super().file(bundle)


class Calling(Plain):
    """Asks another machine."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Look for its address."""
        socket.getaddrinfo("127.0.0.1", 80)
        return super().file(bundle)


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

    def steps(self) -> Iterable[planpb.Step]:
        """Give both."""
        yield from super().steps()
        yield planpb.Step(id="a", phase=planpb.PHASE_POST)


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
        (Reading, "is not pure: it asks the machine for open"),
        (Calling, "is not pure: it asks the machine for socket.getaddrinfo"),
        (Idle, "kubernetes.node.taints is declared, and changes no plan"),
        (Unknown, "kubernetes.node.zebra is declared, and the contract has no such feature"),
        (Unknown, "kubernetes.node.zebra is declared, and no machine uses it"),
        (Remedied, "has a remedy for where it is not taken"),
        (Readable, "others than its owner can read it"),
        (Foreign, "a secret that the bundle does not have"),
        (Named, "gives another plan for a machine of another name"),
        (Unowned, "has no owner, group or mode"),
        (Doubled, "two steps have the same id"),
        (Doubled, "is not of the phase BOOTSTRAP"),
        (Trusting, "is declared for workers"),
        (Refusing, "is refused: is not liked"),
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
    assert problems(Plain(), _machines(Plain())) == []
    assert any(words in entry for entry in problems(broken(), _machines(broken())))


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
    return [machine(engine, clusterpb.ROLE_WORKER, kubernetes=kubernetes(node=node))]
