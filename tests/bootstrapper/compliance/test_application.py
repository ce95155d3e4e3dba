"""What profiles add to a spec, and what of a spec is against them."""

import json

import pytest
import yaml

from slipway.bootstrapper.compliance.application import TALOS, is_encrypted_by_us
from slipway.contract.items import items
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.compliance.specs import LEVEL_2, applied_to, arguments, spec_of

CIS = "cis-kubernetes-1.10"
ENCRYPTION = """
kubernetes:
  controlPlane:
    encryption: {configuration: {text: "{resources: [{resources: [secrets], providers: [{identity: {}}]}]}"}}
"""
ADMISSION = """
kubernetes:
  controlPlane:
    files:
    - {name: a, component: api-server, argument: admission-control-config-file, content: {text: "plugins: []"}}
"""


def api_server(*texts: str) -> str:
    """Give a spec whose API server has arguments NAME=VALUE."""
    entries = [dict(zip(("name", "value"), text.split("=", 1), strict=True)) for text in texts]
    return json.dumps({"kubernetes": {"controlPlane": {"apiServer": {"arguments": entries}}}})


def kubelet(**settings: object) -> str:
    """Give a spec with a KubeletConfiguration."""
    head = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
    document = yaml.safe_dump({**head, **settings})
    return json.dumps({"kubernetes": {"node": {"kubeletConfiguration": {"text": document}}}})


def test_a_control_plane_gets_what_its_profile_demands() -> None:
    """Arguments, plugins, audit log, encryption and settings of the kubelet are there, each by its control."""
    spec = spec_of()
    applied = applied_to(spec)
    assert arguments(spec)["profiling"] == "false"
    assert arguments(spec)["enable-admission-plugins"].split(",") == [
        "NodeRestriction", "DenyServiceExternalIPs", "EventRateLimit", "AlwaysPullImages",
    ]  # fmt: skip
    audit = spec.kubernetes.control_plane.audit
    assert (audit.max_age_days, audit.max_backups, audit.max_size_mib) == (30, 10, 100)
    assert is_encrypted_by_us(spec.kubernetes)
    settings = json.loads(spec.kubernetes.node.kubelet_configuration.text)
    assert settings["authentication"] == {"anonymous": {"enabled": False}}
    assert settings["podPidsLimit"] == 4096
    assert applied.places["kubernetes.control_plane.audit.max_age_days"] == (f"{CIS}/1.2.17",)
    assert applied.places["kubernetes.control_plane.encryption"] == (f"{CIS}/1.2.27", f"{CIS}/1.2.28")
    assert not applied.violations


def test_every_item_says_which_controls_ask_for_it() -> None:
    """What is there only since controls ask for it has them as its origin."""
    spec = spec_of()
    applied_to(spec)
    origins = {item.path: item.message.origin.path for item in items(spec) if item.path != "compliance"}
    assert origins["kubernetes.node"].startswith(f"{CIS}/4.2.")
    assert "1.2.15" in origins["kubernetes.control_plane"]
    assert all(origins.values())


def test_a_worker_gets_its_own_part_only() -> None:
    """It has no control plane to set up."""
    spec = spec_of()
    applied = applied_to(spec, clusterpb.ROLE_WORKER)
    assert not spec.kubernetes.HasField("control_plane")
    assert spec.kubernetes.node.HasField("kubelet_configuration")
    assert all(path.startswith("kubernetes.node") for path in applied.places)


def test_what_is_written_stays_as_far_as_it_meets_the_control() -> None:
    """Stricter values, further plugins and the user's own audit policy are kept."""
    spec = spec_of(api_server("audit-log-maxage=90", "enable-admission-plugins=PodTolerationRestriction"))
    spec.kubernetes.control_plane.audit.policy.text = "own"
    applied = applied_to(spec)
    assert arguments(spec)["audit-log-maxage"] == "90"
    assert arguments(spec)["enable-admission-plugins"].split(",")[0] == "PodTolerationRestriction"
    assert "NodeRestriction" in arguments(spec)["enable-admission-plugins"]
    assert spec.kubernetes.control_plane.audit.policy.text == "own"
    assert not spec.kubernetes.control_plane.audit.HasField("max_age_days")
    shared = applied.shared["kubernetes.control_plane.api_server.arguments[1]"]
    assert f"{CIS}/1.2.14" in shared
    assert not applied.violations


@pytest.mark.parametrize(
    ("text", "path", "control"),
    [
        (api_server("profiling=true"), "kubernetes.control_plane.api_server.arguments[0]", "1.2.15"),
        (api_server("token-auth-file=/x"), "kubernetes.control_plane.api_server.arguments[0]", "1.2.2"),
        (api_server("audit-log-maxage=7"), "kubernetes.control_plane.api_server.arguments[0]", "1.2.17"),
        (
            "kubernetes: {controlPlane: {audit: {policy: {text: x}, maxAgeDays: 7}}}",
            "kubernetes.control_plane.audit.max_age_days",
            "1.2.17",
        ),
        (api_server("authorization-mode=AlwaysAllow"), "kubernetes.control_plane.api_server.arguments[0]", "1.2.6"),
        (
            api_server("disable-admission-plugins=NodeRestriction"),
            "kubernetes.control_plane.api_server.arguments[0]",
            "1.2.14",
        ),
        (
            ENCRYPTION,
            "kubernetes.control_plane.encryption",
            "1.2.28",
        ),
        (
            ADMISSION,
            "kubernetes.control_plane.files[0]",
            "1.2.9",
        ),
        (kubelet(readOnlyPort=10255), "kubernetes.node.kubelet_configuration", "4.2.4"),
        (
            "kubernetes: {node: {kubeletArguments: [{name: anonymous-auth, value: 'true'}]}}",
            "kubernetes.node.kubelet_arguments[0]",
            "4.2.1",
        ),
        (
            "kubernetes: {node: {kubeletArguments: [{name: hostname-override, value: x}]}}",
            "kubernetes.node.kubelet_arguments[0]",
            "4.2.7",
        ),
    ],
)
def test_what_is_against_a_control_is_refused_at_its_field(text: str, path: str, control: str) -> None:
    """The refusal names the control and the way out; with a waiver of that control there is none."""
    violations = applied_to(spec_of(text)).violations
    refusal = next(entry for entry in violations if f"{CIS}/{control}:" in entry.description)
    assert refusal.path == path
    assert "waive" in refusal.remedy
    waived = tuple({f"{CIS}/{entry.description.split('/')[1].split(':')[0]}" for entry in violations})
    assert not applied_to(spec_of(text, waived=waived)).violations


def test_a_waived_control_adds_nothing() -> None:
    """It is selected as waived, and its settings stay out."""
    spec = spec_of(waived=(f"{CIS}/1.2.11", f"{CIS}/1.2.15", f"{CIS}/4.2.13"))
    applied = applied_to(spec)
    assert "profiling" not in arguments(spec)
    assert "AlwaysPullImages" not in arguments(spec)["enable-admission-plugins"]
    assert "podPidsLimit" not in json.loads(spec.kubernetes.node.kubelet_configuration.text)
    assert set(applied.selection.waived) == {f"{CIS}/1.2.11", f"{CIS}/1.2.15", f"{CIS}/4.2.13"}


def test_a_value_that_only_the_machine_knows_is_left_to_the_evidence() -> None:
    """It can be neither judged nor replaced here."""
    spec = spec_of()
    spec.kubernetes.control_plane.api_server.arguments.add(name="profiling").segments.add(text="false")
    applied = applied_to(spec)
    names = [argument.name for argument in spec.kubernetes.control_plane.api_server.arguments]
    assert names.count("profiling") == 1
    assert not applied.violations


def test_etcd_that_runs_elsewhere_is_nobodys_here() -> None:
    """No argument is set for etcd's own servers."""
    text = "kubernetes: {etcd: {external: {endpoints: ['https://e'], caFile: /a, certFile: /b, keyFile: /c}}}"
    spec = spec_of(text, profile=LEVEL_2)
    applied_to(spec)
    assert not spec.kubernetes.etcd.HasField("local")


def test_talos_is_left_what_it_does_by_itself() -> None:
    """Its own settings are not asked for again, and the field paths of all others stay the same."""
    general, own = spec_of(profile=LEVEL_2), spec_of(profile=LEVEL_2)
    everywhere, on_talos = applied_to(general), applied_to(own, view=TALOS)
    assert not own.kubernetes.control_plane.HasField("encryption")
    assert not own.kubernetes.control_plane.audit.HasField("log_path")
    settings = json.loads(own.kubernetes.node.kubelet_configuration.text)
    assert settings.keys().isdisjoint({"authentication", "authorization", "seccompDefault"})
    kept = {path: names for path, names in on_talos.places.items() if path != "kubernetes.node.kubelet_configuration"}
    assert kept.items() <= everywhere.places.items()


def test_the_spec_before_is_kept() -> None:
    """Another view begins with it."""
    spec = spec_of(api_server("v=2"))
    applied = applied_to(spec)
    assert arguments(applied.plain) == {"v": "2"}
