"""The rendered manifests: what they promise of security, and that the programs know every flag in them."""

from collections.abc import Callable
from typing import Any

import click
import pytest

from slipway.certificates.authority import names, read_subject
from slipway.certificates.job import AUTHORITY, secret_of
from slipway.certificates.job import main as certificates
from slipway.controller.__main__ import main as controller
from slipway.controller.server import LEASE
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.provisioners.talos.provisioner import TalosProvisioner
from slipway.provisioners.windows.provisioner import WindowsProvisioner
from slipway.registry.__main__ import main as registry
from slipway.sdk.command import command as provisioner
from tests.deploy.kubernetes import rendered
from tests.deploy.kubernetes.policies import Peer, Policies

pytestmark = pytest.mark.engine

CERT_MANAGER, OWN = rendered.SEPARATE
PROVISIONERS = ("cloud-init", "ignition", "talos", "windows")
DEPLOYMENTS = ("slipway-controller", "slipway-registry", *(f"slipway-{name}" for name in PROVISIONERS))
JOB = "slipway-certificates"
PODS = (*DEPLOYMENTS, JOB)
PROGRAMS = {
    "slipway-controller": controller,
    "slipway-registry": registry,
    "slipway-provisioner-cloud-init": provisioner(CloudInit()),
    "slipway-provisioner-ignition": provisioner(IgnitionProvisioner()),
    "slipway-provisioner-talos": provisioner(TalosProvisioner()),
    "slipway-provisioner-windows": provisioner(WindowsProvisioner()),
    "python3": certificates,
}
METADATA_SERVICES = (
    "169.254.169.254", "169.254.42.42", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fe80::a9fe:a9fe",
    "fd00:ec2::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "fd20:ce::254",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _kubectl(engine: Callable[..., None]) -> None:
    """Who renders."""
    engine("kubebox-1.34")


def _template(name: str) -> dict[str, Any]:
    found: dict[str, Any] = rendered.of_kind(OWN, "Job" if name == JOB else "Deployment")[name]["spec"]["template"]
    return found


def _container(name: str) -> dict[str, Any]:
    (container,) = _template(name)["spec"]["containers"]
    found: dict[str, Any] = container
    return found


def test_nothing_is_deployed_that_these_tests_do_not_know() -> None:
    """What is tried below is all that runs, and every overlay has the same services."""
    for overlay in (OWN, CERT_MANAGER):
        assert set(rendered.of_kind(overlay, "Deployment")) == set(DEPLOYMENTS)
    assert set(rendered.of_kind(OWN, "Job")) == set(rendered.of_kind(OWN, "CronJob")) == {JOB}
    assert not [
        document
        for document in rendered.documents(OWN)
        if document["kind"] in {"Pod", "DaemonSet", "StatefulSet", "ReplicaSet"}
    ]


@pytest.mark.parametrize("name", PODS)
def test_every_flag_is_known(name: str) -> None:
    """A misspelt flag would be a pod that never starts."""
    container = _container(name)
    command = PROGRAMS[container["command"][0]]
    command.make_parser(click.Context(command)).parse_args(list(container["args"]))
    assert name != JOB or container["command"][1:] == ["-m", "slipway.certificates.job"]


@pytest.mark.parametrize("name", PODS)
def test_every_pod_is_restricted(name: str) -> None:
    """Nobody is root, only scratch can be written, no capability is left, memory is bounded, no name is a setting."""
    pod = _template(name)["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["enableServiceLinks"] is False
    container = _container(name)
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert "memory" in container["resources"]["limits"]
    assert {one["name"]: one.get("readOnly", False) for one in container["volumeMounts"]} == (
        {"scratch": False} if name == JOB else {"scratch": False, "certificates": True}
    )


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_every_service_is_watched_and_given_its_time(name: str) -> None:
    """Health is asked, a pod of two may go at a time, draining is waited for; its Pods are those of its own name."""
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= _container(name).keys()
    assert _template(name)["spec"]["terminationGracePeriodSeconds"] > 30
    deployment = rendered.of_kind(OWN, "Deployment")[name]["spec"]
    own = {"app.kubernetes.io/name": name}
    assert deployment["replicas"] == 2
    assert deployment["selector"] == {"matchLabels": own}
    assert own.items() <= _template(name)["metadata"]["labels"].items()
    assert rendered.of_kind(OWN, "PodDisruptionBudget")[name]["spec"] == {
        "maxUnavailable": 1,
        "selector": {"matchLabels": own},
    }
    (spread,) = _template(name)["spec"]["topologySpreadConstraints"]
    assert spread["labelSelector"] == {"matchLabels": own}


def test_provisioners_differ_by_their_name_only() -> None:
    """Each is the same Deployment with another name in it."""
    texts = {str(rendered.of_kind(OWN, "Deployment")[f"slipway-{name}"]).replace(name, "NAME") for name in PROVISIONERS}
    assert len(texts) == 1


def test_provisioners_have_no_token() -> None:
    """They never call the API server, and cannot; everybody else has an account of their own."""
    accounts = rendered.of_kind(OWN, "ServiceAccount")
    assert accounts["slipway-service"]["automountServiceAccountToken"] is False
    for name in PODS:
        wanted = "slipway-service" if name.removeprefix("slipway-") in PROVISIONERS else name
        assert _template(name)["spec"]["serviceAccountName"] == wanted


def test_the_cron_job_runs_what_the_job_runs() -> None:
    """Renewal is the first run again: one pod, written once."""
    cron = rendered.of_kind(OWN, "CronJob")[JOB]["spec"]
    assert cron["jobTemplate"]["spec"]["template"] == rendered.of_kind(OWN, "Job")[JOB]["spec"]["template"]
    assert cron["concurrencyPolicy"] == "Forbid"


def test_every_service_has_a_certificate_of_its_name() -> None:
    """Each Secret that a pod mounts is made by both overlays, with the same names in its certificate."""
    mounted = {
        volume["secret"]["secretName"]
        for name in DEPLOYMENTS
        for volume in _template(name)["spec"]["volumes"]
        if "secret" in volume
    }
    by_cert_manager = {
        one["spec"]["secretName"]: {*one["spec"].get("uris", ()), *one["spec"].get("dnsNames", ())}
        for one in rendered.of_kind(CERT_MANAGER, "Certificate").values()
    }
    flags = [
        argument.removeprefix("--subject=") for argument in _container(JOB)["args"] if argument.startswith("--subject=")
    ]
    subjects = [read_subject(flag.replace("$(POD_NAMESPACE)", "slipway-system")) for flag in flags]
    by_job = {
        secret_of(subject): {str(name.value) for name in names(subject, trust_domain="slipway")} for subject in subjects
    }
    by_cert_manager.pop(AUTHORITY)
    assert by_job == by_cert_manager
    assert mounted == by_job.keys()
    for name in PROVISIONERS:
        assert by_job[f"slipway-{name}-tls"] == {f"spiffe://slipway/provisioner/{name}", f"{name}.provisioner.slipway"}


def test_the_job_fills_the_secrets_that_it_may_and_all_of_them() -> None:
    """Its role names the Secrets that the overlay makes, which are empty, and two verbs."""
    made = rendered.of_kind(OWN, "Secret")
    assert not [name for name, one in made.items() if one.get("data")]
    (rule,) = rendered.of_kind(OWN, "Role")[JOB]["rules"]
    assert {key: sorted(value) for key, value in rule.items()} == {
        "apiGroups": [""],
        "resources": ["secrets"],
        "verbs": ["get", "update"],
        "resourceNames": sorted(made),
    }
    assert AUTHORITY in made


def test_the_registry_is_called_by_a_name_of_its_certificate() -> None:
    """Whoever calls the registry calls a Service that is there, at its port, by a name that it can prove."""
    service = rendered.of_kind(OWN, "Service")["slipway-registry"]["spec"]
    for name in DEPLOYMENTS:
        called = [
            argument.partition("=")[2]
            for argument in _container(name)["args"]
            if argument.startswith("--registry-address=")
        ]
        assert called == ([] if name == "slipway-registry" else ["slipway-registry:9443"])
    assert [port["port"] for port in service["ports"]] == [9443]
    certificate = rendered.of_kind(CERT_MANAGER, "Certificate")["slipway-registry"]["spec"]
    assert "slipway-registry" in certificate["dnsNames"]


def test_the_leader_has_a_lease_that_admission_leaves_to_it() -> None:
    """The policy for Leases goes by the names of accounts: that of the leader begins with the controller's."""
    assert LEASE.startswith(_template("slipway-controller")["spec"]["serviceAccountName"] + ".")
    policy = rendered.of_kind(OWN, "ValidatingAdmissionPolicy")["slipway-leases"]
    binding = rendered.of_kind(OWN, "ValidatingAdmissionPolicyBinding")["slipway-leases"]
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
    assert policy["spec"]["failurePolicy"] == "Fail"


def test_everything_is_denied_that_no_policy_allows() -> None:
    """One policy for all pods allows nothing; each role has one that names its neighbours."""
    policies = {name: one["spec"] for name, one in rendered.of_kind(OWN, "NetworkPolicy").items()}
    assert policies["slipway-deny"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    roles = {_template(name)["metadata"]["labels"]["slipway.dev/role"] for name in PODS}
    selected = {(spec["podSelector"].get("matchLabels") or {}).get("slipway.dev/role") for spec in policies.values()}
    assert roles <= selected


@pytest.mark.parametrize("name", PODS)
@pytest.mark.parametrize("address", METADATA_SERVICES)
def test_nobody_reaches_the_cloud_s_metadata(name: str, address: str) -> None:
    """The credentials of the machine are there for whoever asks: no pod does, at any port."""
    policies = Policies(rendered.of_kind(OWN, "NetworkPolicy").values())
    labels = _template(name)["metadata"]["labels"]
    assert not [port for port in (80, 443, 6443, 8080) if policies.allow("egress", labels, Peer(address), port)]


@pytest.mark.parametrize(
    ("name", "address", "port", "reason"),
    [
        ("slipway-controller", "198.51.100.7", 8443, "an API server of a workload cluster, at any port"),
        ("slipway-controller", "2001:db8::7", 6443, "the same in IPv6"),
        ("slipway-registry", "198.51.100.7", 6443, "its own API server"),
        (JOB, "198.51.100.7", 443, "its own API server"),
    ],
)
def test_api_servers_are_reached(name: str, address: str, port: int, reason: str) -> None:
    """What is kept from pods is not what they need."""
    policies = Policies(rendered.of_kind(OWN, "NetworkPolicy").values())
    assert policies.allow("egress", _template(name)["metadata"]["labels"], Peer(address), port), reason


@pytest.mark.parametrize("overlay", rendered.OVERLAYS)
def test_every_way_in_names_its_sources(overlay: str) -> None:
    """A rule without a source opens a port to every pod of the cluster."""
    for name, policy in rendered.of_kind(overlay, "NetworkPolicy").items():
        for rule in policy["spec"].get("ingress") or ():
            assert rule["ports"], name
            assert rule["from"], name
            assert all(any(selector for selector in source.values()) for source in rule["from"]), name


@pytest.mark.parametrize("name", PODS)
@pytest.mark.parametrize("labels", [None, {"app": "any"}])
def test_nobody_else_gets_in(name: str, labels: dict[str, str] | None) -> None:
    """A pod without a role, and an address outside of the cluster, reach neither calls nor metrics nor health."""
    policies = Policies(rendered.of_kind(OWN, "NetworkPolicy").values())
    own = _template(name)["metadata"]["labels"]
    peer = Peer("10.0.0.9", labels)
    assert not [port for port in (8080, 8081, 9443, 9444) if policies.allow("ingress", own, peer, port)]


def test_a_provisioner_calls_nobody_but_the_registry() -> None:
    """What knows the secrets of machines has no way out."""
    policies = Policies(rendered.of_kind(OWN, "NetworkPolicy").values())
    labels = _template("slipway-talos")["metadata"]["labels"]
    registry_pod = Peer("10.0.0.2", _template("slipway-registry")["metadata"]["labels"])
    assert policies.allow("egress", labels, registry_pod, 9443)
    assert not policies.allow("egress", labels, Peer("10.0.0.3", labels), 9443)
    assert not [port for port in (80, 443, 6443, 9443) if policies.allow("egress", labels, Peer("198.51.100.7"), port)]
