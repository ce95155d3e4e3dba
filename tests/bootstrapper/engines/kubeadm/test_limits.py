"""Limits: what the older API, the engine or the role cannot have is said by field, never dropped in silence."""

from typing import Any

import pytest
import yaml

from slipway.bootstrapper.engines.kubeadm.features import CONTROL_PLANE_ROLES, FEATURES, REMEDIES
from slipway.contract.field_plans import plan
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import options_pb2 as optionspb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb

PROVIDER = "execution { literal_commands: true }"
CONTROL_PLANE = "intent { kubernetes { control_plane { %s } } }"
OLD_API = [
    (
        CONTROL_PLANE % 'api_server { environment { name: "A" value: "b" } }',
        "intent.kubernetes.control_plane.api_server.environment[0]",
    ),
    (
        CONTROL_PLANE % 'scheduler { environment { name: "A" } }',
        "intent.kubernetes.control_plane.scheduler.environment[0]",
    ),
    (
        'intent { kubernetes { etcd { local { environment { name: "A" } } } } }',
        "intent.kubernetes.etcd.local.environment[0]",
    ),
    (
        "engine_options { kubeadm { image_pull_serial: false } }",
        "engine_options.kubeadm.image_pull_serial",
    ),
    (
        "engine_options { kubeadm { certificate_validity { seconds: 86400 } } }",
        "engine_options.kubeadm.certificate_validity",
    ),
    ("engine_options { kubeadm { timeouts { kubelet { seconds: 1 } } } }", "engine_options.kubeadm.timeouts.kubelet"),
    (
        "engine_options { kubeadm { timeouts { discovery { seconds: 1 } } } }",
        "engine_options.kubeadm.timeouts.discovery",
    ),
    (
        "engine_options { kubeadm { timeouts { kubernetes_api { seconds: 1 } } } }",
        "engine_options.kubeadm.timeouts.kubernetes_api",
    ),
    ("engine_options { kubeadm { timeouts { etcd_api { seconds: 1 } } } }", "engine_options.kubeadm.timeouts.etcd_api"),
    (CONTROL_PLANE % "dns { disabled: true }", "intent.kubernetes.control_plane.dns.disabled"),
    (CONTROL_PLANE % "kube_proxy { disabled: true }", "intent.kubernetes.control_plane.kube_proxy.disabled"),
    (
        """intent { kubernetes { node {
          kubelet_arguments { name: "v" value: "1" } kubelet_arguments { name: "v" value: "2" }
        } } }""",
        "intent.kubernetes.node.kubelet_arguments[0]",
    ),
    (
        CONTROL_PLANE % 'api_server { arguments { name: "v" value: "1" } arguments { name: "v" value: "2" } }',
        "intent.kubernetes.control_plane.api_server.arguments[0]",
    ),
]


@pytest.mark.parametrize(("text", "path"), OLD_API)
def test_what_v1beta3_lacks_is_refused_for_a_native_spec(machines: Any, text: str, path: str) -> None:
    """By field, with a remedy; the newer API takes all of it."""
    result = machines.plan("ROLE_INIT", text, version="v1.30.5")
    assert [refusal.path for refusal in result.refusals] == [path]
    assert result.refusals[0].feature in FEATURES
    assert result.refusals[0].remedy
    assert result.files == ()
    assert result.steps == ()
    assert machines.plan("ROLE_INIT", text, version="v1.31.0").refusals == ()


@pytest.mark.parametrize(("text", "path"), OLD_API)
def test_what_v1beta3_lacks_is_a_warning_for_an_imported_spec(machines: Any, text: str, path: str) -> None:
    """As today it is left out, but no longer without a word."""
    result = machines.plan("ROLE_INIT", text, PROVIDER, version="v1.30.5")
    assert [(one.code, one.path) for one in result.diagnostics] == [("KUBEADM_FIELD_DROPPED", path)]
    assert result.refusals == ()
    documents = list(yaml.safe_load_all(machines.text(result.files[-1].content)))
    assert all(document["apiVersion"] == "kubeadm.k8s.io/v1beta3" for document in documents)


def test_a_native_spec_with_a_policy_of_its_own_stays_native(machines: Any) -> None:
    """Who says what happens after a failure has not imported anything."""
    text, path = OLD_API[0]
    policy = "execution { on_post_failure: FAILURE_POLICY_CONTINUE }"
    assert [one.path for one in machines.plan("ROLE_INIT", text, policy, version="v1.30.5").refusals] == [path]


def test_of_doubled_arguments_the_later_one_counts(machines: Any) -> None:
    """An imported spec on the older API keeps the last value, as today; the newer API keeps both."""
    text = OLD_API[-2][0]
    old = yaml.safe_load(machines.config("ROLE_WORKER", text, PROVIDER, version="v1.30.5"))
    new = yaml.safe_load(machines.config("ROLE_WORKER", text))
    assert old["nodeRegistration"]["kubeletExtraArgs"] == {"v": "2"}
    assert [argument["value"] for argument in new["nodeRegistration"]["kubeletExtraArgs"]] == ["1", "2"]


def test_a_cluster_setting_does_not_stop_a_joining_machine(machines: Any) -> None:
    """What only the first machine writes is judged there; timeouts and the like are judged everywhere."""
    cluster = machines.plan("ROLE_CONTROL_PLANE", OLD_API[0][0], version="v1.30.5")
    assert cluster.refusals == ()
    node = machines.plan("ROLE_WORKER", OLD_API[3][0], version="v1.30.5")
    assert [refusal.path for refusal in node.refusals] == [OLD_API[3][1]]


@pytest.mark.parametrize("field", ["image_repository", "image_tag"])
def test_what_kubeadm_has_no_place_for_is_refused_always(machines: Any, field: str) -> None:
    """Also for an imported spec: no import can make such a thing."""
    text = CONTROL_PLANE % f'kube_proxy {{ {field}: "x" }}'
    for more in ((), (PROVIDER,)):
        (refusal,) = machines.plan("ROLE_INIT", text, *more).refusals
        assert refusal.feature == f"kubernetes.control_plane.kube_proxy.{field}"
        assert refusal.remedy == REMEDIES[refusal.feature]
        # The place that people are told is the whole control plane's.
        assert f"leave out {person_path(f'kube_proxy.{field}')}" in refusal.remedy


def test_all_refusals_come_at_once(machines: Any) -> None:
    """A user does not have to try again and again."""
    texts = [text for text, _ in OLD_API]
    result = machines.plan("ROLE_INIT", *texts, version="v1.29.0")
    # Doubled arguments are found only when all else is sound.
    assert {refusal.path for refusal in result.refusals} == {path for _, path in OLD_API[:-2]}


def test_a_control_plane_of_another_family_cannot_be_joined(machines: Any) -> None:
    """A worker of kubeadm finds nothing to join in a Talos cluster."""
    (refusal,) = machines.plan("ROLE_WORKER", 'intent { cluster { control_plane: "talos" } }').refusals
    assert refusal.path == "intent.cluster.control_plane"
    assert machines.plan("ROLE_WORKER", 'intent { cluster { control_plane: "kubeadm" } }').refusals == ()


@pytest.mark.parametrize(
    ("algorithm", "version", "refusals", "warnings"),
    [
        ("ECDSA_P256", "v1.31.0", 0, 0),
        ("ECDSA_P384", "v1.33.9", 1, 0),
        ("ECDSA_P384", "v1.34.0", 0, 0),
        ("ECDSA_P256", "v1.30.0", 0, 1),
        ("RSA_2048", "v1.30.0", 0, 0),
    ],
)
def test_key_algorithms_by_version(machines: Any, algorithm: str, version: str, refusals: int, warnings: int) -> None:
    """Where kubeadm's own certificates cannot follow the setting, that is said."""
    text = f"intent {{ kubernetes {{ certificates {{ key_algorithm: KEY_ALGORITHM_{algorithm} }} }} }}"
    result = machines.plan("ROLE_INIT", text, version=version)
    assert (len(result.refusals), len(result.diagnostics)) == (refusals, warnings)


@pytest.mark.parametrize("name", ["server", "peer"])
def test_names_of_an_etcd_member_need_one(machines: Any, name: str) -> None:
    """External etcd has its own certificates: names for those of a local member would have no effect."""
    names = f'engine_options {{ kubeadm {{ etcd_{name}_sans: "etcd.example.com" }} }}'
    external = """intent { kubernetes { etcd { external {
      endpoints: "https://etcd.example.com:2379" ca_file: "/a" cert_file: "/b" key_file: "/c"
    } } } }"""
    (refusal,) = machines.plan("ROLE_INIT", names, external).refusals
    assert refusal.path == f"engine_options.kubeadm.etcd_{name}_sans"
    assert machines.plan("ROLE_INIT", names).refusals == ()


DAY = 86400


@pytest.mark.parametrize(
    ("authority", "certificate", "field"),
    [
        (30 * DAY, None, "intent.kubernetes.certificates.ca_validity"),
        (30 * DAY, 31 * DAY, "intent.kubernetes.certificates.ca_validity"),
        (None, 3651 * DAY, "engine_options.kubeadm.certificate_validity"),
        (365 * DAY, None, ""),
        (31 * DAY, 31 * DAY, ""),
        (None, 3650 * DAY, ""),
        (None, None, ""),
    ],
)
def test_certificates_that_outlast_their_authority(
    machines: Any, authority: int | None, certificate: int | None, field: str
) -> None:
    """They end with it; kubeadm says so on the machine only. A machine that joins makes no authority."""
    texts = []
    if authority:
        texts.append(f"intent {{ kubernetes {{ certificates {{ ca_validity {{ seconds: {authority} }} }} }} }}")
    if certificate:
        texts.append(f"engine_options {{ kubeadm {{ certificate_validity {{ seconds: {certificate} }} }} }}")
    for role, wanted in (("ROLE_INIT", [field] if field else []), ("ROLE_CONTROL_PLANE", [])):
        diagnostics = machines.plan(role, *texts).diagnostics
        assert [entry.path for entry in diagnostics if entry.code == "ENDS_WITH_AUTHORITY"] == wanted


def test_a_kubelet_configuration_needs_kubeadm_1_25(machines: Any) -> None:
    """Older kubeadm cannot give one machine a configuration of its own."""
    text = 'intent { kubernetes { node { kubelet_configuration { text: "maxPods: 50" } } } }'
    (refusal,) = machines.plan("ROLE_WORKER", text, version="v1.24.9").refusals
    assert refusal.path == "intent.kubernetes.node.kubelet_configuration"
    imported = machines.plan("ROLE_WORKER", text, PROVIDER, version="v1.24.9")
    assert [one.code for one in imported.diagnostics] == ["KUBEADM_FIELD_DROPPED"]
    assert len(imported.files) == 1


def test_a_worker_is_told_what_it_does_not_use(machines: Any) -> None:
    """Control-plane settings in a worker's spec are remarked on; they change nothing."""
    images = 'intent { kubernetes { images { repository: "r" } } }'
    result = machines.plan("ROLE_WORKER", CONTROL_PLANE % "bind_port: 1", images)
    assert [(one.code, one.path) for one in result.diagnostics] == [
        ("NOT_USED_BY_ROLE", "intent.kubernetes.control_plane"),
        ("NOT_USED_BY_ROLE", "intent.kubernetes.images"),
    ]
    assert machines.text(result.files[-1].content) == machines.config("ROLE_WORKER")


def test_skew_is_a_warning_for_an_imported_worker(machines: Any) -> None:
    """Today nothing checks it; the machine is still made."""
    result = machines.plan("ROLE_WORKER", PROVIDER, 'intent { cluster { kubernetes_version: "v1.29.0" } }')
    assert [one.code for one in result.diagnostics] == ["VERSION_SKEW"]
    assert result.files


def contract_features() -> set[str]:
    """Give every feature id that an intent or the engine's options can use."""
    found: set[str] = set()
    _collect(planpb.Intent.DESCRIPTOR, "", found)
    _collect(specpb.EngineOptions.DESCRIPTOR, "", found)
    return found


def _collect(descriptor: Any, above: str, found: set[str]) -> None:
    for field in plan(descriptor).values():
        own = field.own_id(above)
        nearest = own or above
        if own:
            found.add(own)
        found |= {nearest + suffix for suffix in field.value_features.values() if suffix.startswith(".") and nearest}
        if field.message is not None and field.message.full_name != "slipway.v1alpha1.Origin":
            _collect(field.message, nearest, found)


def test_every_declared_feature_exists_and_every_other_has_a_remedy() -> None:
    """A feature that the contract gains is refused here until somebody has taught the engine what it means."""
    contract = contract_features()
    assert FEATURES - contract == set()
    in_no_bundle = {feature for feature in contract if feature.endswith((".config_maps", ".no_proxy_only"))}
    of_others = {feature for feature in contract if feature.startswith("engine_options.")} - FEATURES
    assert contract - FEATURES - in_no_bundle - of_others == set(REMEDIES)
    assert set(CONTROL_PLANE_ROLES) < FEATURES


def test_every_machine_text_may_hold_facts() -> None:
    """Whatever the contract lets depend on the machine, the engine writes as a slot."""
    for message in (kubernetespb.Argument, contentpb.MachineText, contentpb.Content):
        segments = message.DESCRIPTOR.fields_by_name["segments"]
        facts = segments.message_type.fields_by_name["fact"].GetOptions().Extensions[optionspb.feature]
        assert facts == ".facts"


KUBEADM_VERSIONS = [
    ("ROLE_WORKER", "v1.30.5", "v1.31.4", "kubeadm.k8s.io/v1beta4", "a worker that is older than its control plane"),
    ("ROLE_WORKER", "v1.28.0", "v1.31.4", "kubeadm.k8s.io/v1beta4", "three minor versions, the most"),
    ("ROLE_WORKER", "v1.27.0", "v1.31.4", "too new", "four minor versions"),
    ("ROLE_WORKER", "v1.31.4", "v1.30.5", "older than the Kubernetes version", "an older kubeadm"),
    ("ROLE_INIT", "v1.30.5", "v1.31.4", "kubeadm.k8s.io/v1beta4", "kubeadm deploys the minor version before its own"),
    ("ROLE_INIT", "v1.29.5", "v1.31.4", "too new", "and no older one"),
]


@pytest.mark.parametrize("row", KUBEADM_VERSIONS, ids=[row[-1] for row in KUBEADM_VERSIONS])
def test_the_kubeadm_on_the_machine_decides_the_api(machines: Any, row: tuple[str, ...]) -> None:
    """Not the Kubernetes version; one that cannot set that Kubernetes up is refused at its own field."""
    role, version, kubeadm, wanted, reason = row
    options = f'engine_options {{ kubeadm {{ version: "{kubeadm}" }} }}'
    result = machines.plan(role, options, version=version)
    if wanted.startswith("kubeadm."):
        assert result.refusals == (), reason
        documents = list(yaml.safe_load_all(machines.text(result.files[-1].content)))
        assert {one["apiVersion"] for one in documents if "kubeadm" in one["apiVersion"]} == {wanted}, reason
        cluster = [one for one in documents if one["kind"] == "ClusterConfiguration"]
        assert [one["kubernetesVersion"] for one in cluster] == ([version] if role == "ROLE_INIT" else []), reason
    else:
        assert [one.path for one in result.refusals] == ["engine_options.kubeadm.version"], reason
        assert wanted in result.refusals[0].reason, reason
