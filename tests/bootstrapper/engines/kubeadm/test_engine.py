"""The engine as a whole: what each role gets, where it lies, and that secrets stay references."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from slipway.bootstrapper.engines.result import EngineResult
from slipway.contract.errors import BundleInvalid, CredentialsMissing, KubernetesVersionUnsupported, UnsupportedFeature
from slipway.v1alpha1 import plan_pb2 as planpb

PROVIDER = "execution { literal_commands: true }"
PKI = {
    "/etc/kubernetes/pki/ca.crt": 0o640,
    "/etc/kubernetes/pki/ca.key": 0o600,
    "/etc/kubernetes/pki/etcd/ca.crt": 0o640,
    "/etc/kubernetes/pki/etcd/ca.key": 0o600,
    "/etc/kubernetes/pki/front-proxy-ca.crt": 0o640,
    "/etc/kubernetes/pki/front-proxy-ca.key": 0o600,
    "/etc/kubernetes/pki/sa.pub": 0o640,
    "/etc/kubernetes/pki/sa.key": 0o600,
}
Paths = Callable[[EngineResult], dict[str, int]]


@pytest.mark.parametrize("role", ["ROLE_INIT", "ROLE_CONTROL_PLANE"])
def test_a_control_plane_gets_pki_and_config(machines: Any, paths: Paths, role: str) -> None:
    """PKI in the provider's order and modes, then the configuration, for root only."""
    result = machines.plan(role)
    assert list(paths(result).items()) == [*PKI.items(), ("/etc/slipway/kubeadm.yaml", 0o600)]
    assert {(file.owner, file.group) for file in result.files} == {("root", "root")}
    assert all(list(file.origin.made_by) == ["kubeadm"] for file in result.files)


def test_a_worker_gets_no_key_even_if_the_intent_has_one(machines: Any, paths: Paths) -> None:
    """Only the configuration; a CA key that should not be there is not written."""
    key = 'private_key { name: "slipway.dev/cluster-ca" key: "tls.key" }'
    result = machines.plan("ROLE_WORKER", f"intent {{ credentials {{ cluster_ca {{ {key} }} }} }}")
    assert paths(result) == {"/etc/slipway/kubeadm.yaml": 0o600}
    assert "tls.key" not in str(result)


def test_secrets_are_references_in_every_file(machines: Any) -> None:
    """PKI is spliced raw, the token as a JSON string; no literal holds either."""
    result = machines.plan("ROLE_INIT")
    references = [
        (segment.secret_ref.name, segment.encoding)
        for file in result.files
        for segment in file.content.segments
        if segment.HasField("secret_ref")
    ]
    assert len(references) == 9
    assert references[-1][0] == "slipway.dev/bootstrap-token"
    documents = list(yaml.safe_load_all(machines.text(result.files[-1].content)))
    assert documents[1]["bootstrapTokens"][0]["token"] == "abcdef.0123456789abcdef"


@pytest.mark.parametrize(
    ("role", "command"), [("ROLE_INIT", "init"), ("ROLE_CONTROL_PLANE", "join"), ("ROLE_WORKER", "join")]
)
def test_kubeadm_is_the_one_step(machines: Any, role: str, command: str) -> None:
    """The literal command that consumers look for, in the phase BOOTSTRAP."""
    (step,) = machines.plan(role).steps
    assert list(step.command.argv) == ["kubeadm", command, "--config", "/etc/slipway/kubeadm.yaml"]
    assert step.phase == planpb.PHASE_BOOTSTRAP


def test_verbosity_is_an_argument(machines: Any) -> None:
    """`--v N`, also for zero."""
    (step,) = machines.plan("ROLE_WORKER", "engine_options { kubeadm { verbosity: 0 } }").steps
    assert list(step.command.argv)[-2:] == ["--v", "0"]


@pytest.mark.parametrize(
    ("role", "format_id", "path", "mode", "begin"),
    [
        ("ROLE_INIT", "cloud-config", "/run/kubeadm/kubeadm.yaml", 0o640, "---\n"),
        ("ROLE_CONTROL_PLANE", "cloud-config", "/run/kubeadm/kubeadm-join-config.yaml", 0o640, "apiVersion"),
        ("ROLE_WORKER", "cloud-config", "/run/kubeadm/kubeadm-join-config.yaml", 0o640, "---\n"),
        ("ROLE_INIT", "ignition/2.3.0", "/etc/kubeadm.yml", 0o600, "---\n"),
        ("ROLE_CONTROL_PLANE", "ignition/3.3.0", "/etc/kubeadm.yml", 0o600, "---\n"),
        ("ROLE_WORKER", "ignition/3.3.0", "/etc/kubeadm.yml", 0o600, "---\n"),
    ],
)
def test_imported_specs_keep_the_providers_places(  # noqa: PLR0913, PLR0917 - a table's columns
    machines: Any, role: str, format_id: str, path: str, mode: int, begin: str
) -> None:
    """Path, mode and leading separator of today's kubeadm provider for each format."""
    result = machines.plan(role, PROVIDER, format_id=format_id)
    config = result.files[-1]
    assert (config.path, config.mode) == (path, mode)
    assert machines.text(config.content).startswith(begin)
    assert path in result.steps[0].command.argv


def test_the_bundle_is_not_changed_and_the_answer_is_the_same(machines: Any) -> None:
    """A pure function: same bundle before and after, same result twice."""
    bundle = machines.bundle("ROLE_INIT", 'intent { kubernetes { static_pods { name: "a" manifest { text: "b" } } } }')
    before = bundle.SerializeToString(deterministic=True)
    assert machines.plan_of(bundle) == machines.plan_of(bundle)
    assert bundle.SerializeToString(deterministic=True) == before


def test_a_windows_worker(machines: Any) -> None:
    """Drive and backslashes, containerd's pipe, services around kubeadm."""
    result = machines.plan("ROLE_WORKER", windows=True)
    (config,) = result.files
    assert config.path == "C:\\ProgramData\\slipway\\kubeadm.yaml"
    registration = yaml.safe_load(machines.text(config.content))["nodeRegistration"]
    assert registration["criSocket"] == "npipe:////./pipe/containerd-containerd"
    first, kubeadm, last = result.steps
    assert list(kubeadm.command.argv) == ["kubeadm", "join", "--config", config.path]
    assert first.command.interpreter == last.command.interpreter == planpb.INTERPRETER_POWERSHELL
    assert b"Start-Service -Name containerd" in first.command.script.segments[0].data
    assert b"Start-Service -Name kubelet" in last.command.script.segments[0].data
    assert [step.id for step in result.steps] == sorted(step.id for step in result.steps)


def test_an_imported_windows_worker_runs_kubeadm_only(machines: Any) -> None:
    """Today's provider does no more; the path is that of cloudbase-init's drive."""
    result = machines.plan("ROLE_WORKER", PROVIDER, windows=True)
    assert [list(step.command.argv) for step in result.steps] == [
        ["kubeadm", "join", "--config", "C:\\run\\kubeadm\\kubeadm-join-config.yaml"]
    ]


@pytest.mark.parametrize("role", ["ROLE_INIT", "ROLE_CONTROL_PLANE"])
def test_a_windows_control_plane_is_refused(machines: Any, role: str) -> None:
    """With the role's feature and what to do."""
    result = machines.plan(role, windows=True)
    (refusal,) = result.refusals
    assert refusal.feature == f"kubernetes.role.{role.removeprefix('ROLE_').lower()}"
    assert refusal.path == "intent.role"
    assert refusal.remedy
    assert not result.files


def test_external_etcd_puts_certificates_where_the_spec_says(machines: Any, paths: Paths) -> None:
    """The servers' CA without a key, the client's pair; nothing below the PKI's own etcd folder."""
    external = 'endpoints: "https://e:2379" ca_file: "/e/ca.crt" cert_file: "/e/c.crt" key_file: "/e/c.key"'
    client = """intent { credentials { etcd_client {
      certificate { name: "slipway.dev/apiserver-etcd-client" key: "tls.crt" }
      private_key { name: "slipway.dev/apiserver-etcd-client" key: "tls.key" }
    } } }"""
    result = machines.plan("ROLE_INIT", f"intent {{ kubernetes {{ etcd {{ external {{ {external} }} }} }} }}", client)
    found = paths(result)
    assert {path: mode for path, mode in found.items() if path.startswith("/e/")} == {
        "/e/ca.crt": 0o640,
        "/e/c.crt": 0o640,
        "/e/c.key": 0o600,
    }
    assert not any("/etcd/" in path for path in found)
    assert all(path.startswith("/") for path in found), "the servers' CA key is nobody's here"


def test_another_certificate_folder_moves_the_pki(machines: Any, paths: Paths) -> None:
    """Files and kubeadm's own setting agree."""
    text = 'engine_options { kubeadm { certificates_directory: "/pki" } }'
    result = machines.plan("ROLE_INIT", text)
    assert "/pki/etcd/ca.key" in paths(result)
    assert not any(path.startswith("/etc/kubernetes/pki") for path in paths(result))
    assert "certificatesDir: /pki\n" in machines.text(result.files[-1].content)


def test_static_pods_lie_where_the_kubelet_looks_and_kubeadm_is_told(machines: Any, paths: Paths) -> None:
    """The manifest's bytes, its origin, and the one check that would refuse it."""
    text = """intent { kubernetes { static_pods {
      name: "kube-vip" manifest { text: "a: b" } origin { document: "X/y" path: "spec.pods[0]" }
    } } }"""
    result = machines.plan("ROLE_INIT", text)
    assert paths(result)["/etc/kubernetes/manifests/kube-vip.yaml"] == 0o600
    (pod,) = [file for file in result.files if file.path.endswith("kube-vip.yaml")]
    assert machines.text(pod.content) == "a: b"
    assert (pod.origin.document, pod.origin.path, list(pod.origin.made_by)) == ("X/y", "spec.pods[0]", ["kubeadm"])
    assert "  - DirAvailable--etc-kubernetes-manifests\n" in machines.text(result.files[-1].content)
    assert [diagnostic.code for diagnostic in result.diagnostics] == ["IGNORED_PREFLIGHT_ERROR"]


@pytest.mark.parametrize(
    ("texts", "facts", "error", "reason"),
    [
        ((), {"version": "v1.21.14"}, KubernetesVersionUnsupported, "before v1beta3"),
        ((), {"version": "nonsense"}, KubernetesVersionUnsupported, "no version"),
        ((), {"without": ("bootstrap_token",)}, CredentialsMissing, "no token"),
        ((), {"without": ("ca_hashes",)}, CredentialsMissing, "nothing to know the CA by"),
        (
            ('intent { kubernetes { discovery { token { token { value: "hunter2" } } } } }',),
            {},
            BundleInvalid,
            "a secret in place",
        ),
        (
            ('intent { kubernetes { node { kubelet_configuration { text: "- hunter2" } } } }',),
            {},
            BundleInvalid,
            "no KubeletConfiguration",
        ),
        (
            (
                """intent { kubernetes { node { name { segments { extension {
                  id: "cloud-init.slipway.dev/jinja" text: "{{ 'hunter2' + \\"a\\" }}"
                } } } } } }""",
            ),
            {},
            UnsupportedFeature,
            "a template that YAML cannot hold",
        ),
        (('intent { cluster { kubernetes_version: "v1.29.0" } }',), {}, KubernetesVersionUnsupported, "newer node"),
        (('intent { cluster { kubernetes_version: "v1.38.0" } }',), {}, KubernetesVersionUnsupported, "too old node"),
        (('intent { cluster { kubernetes_version: "hunter2" } }',), {}, KubernetesVersionUnsupported, "no version"),
    ],
)
def test_what_cannot_work_at_all_is_an_error(
    machines: Any, texts: tuple[str, ...], facts: dict[str, Any], error: type[Exception], reason: str
) -> None:
    """An error of the contract that shows nothing of the request."""
    with pytest.raises(error) as caught:
        machines.plan("ROLE_WORKER", *texts, **facts)
    assert "hunter2" not in str(caught.value), reason
    assert "hunter2" not in str(caught.value.to_status())  # type: ignore[attr-defined]


def test_a_cluster_without_endpoint_cannot_be_joined(machines: Any) -> None:
    """The error names the field; creating such a cluster is possible."""
    bundle = machines.bundle("ROLE_WORKER")
    bundle.intent.cluster.ClearField("endpoint")
    with pytest.raises(BundleInvalid) as caught:
        machines.plan_of(bundle)
    assert [violation.path for violation in caught.value.violations] == ["intent.cluster.endpoint"]
    bundle = machines.bundle("ROLE_INIT")
    bundle.intent.cluster.ClearField("endpoint")
    assert "controlPlaneEndpoint" not in machines.text(machines.plan_of(bundle).files[-1].content)


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [
        ("10.0.0.1", "", "10.0.0.1:6443"),
        ("fd00::1", "port: 443", "'[fd00::1]:443'"),
        ("[fd00::1]", "", "'[fd00::1]:6443'"),
    ],
)
def test_endpoints_of_every_kind(machines: Any, host: str, port: str, text: str) -> None:
    """Port defaulted, IPv6 in brackets."""
    bundle = machines.bundle("ROLE_INIT")
    bundle.intent.cluster.ClearField("endpoint")
    bundle.MergeFrom(machines.part(f'intent {{ cluster {{ endpoint {{ host: "{host}" {port} }} }} }}'))
    assert f"controlPlaneEndpoint: {text}\n" in machines.text(machines.plan_of(bundle).files[-1].content)


def test_no_token_says_when_it_expires(machines: Any) -> None:
    """The end of a secret stays with the store, and a token's own is refused: kubeadm takes none."""
    secret = """secrets { secrets {
      name: "slipway.dev/bootstrap-token" key: "token" expire_time { seconds: 1800000000 }
    } }"""
    assert "expires" not in machines.config("ROLE_INIT", secret)
    own = """engine_options { kubeadm { bootstrap_tokens {
      token { secret_ref { name: "t" key: "k" } } expire_time { seconds: 1800000000 }
    } } }"""
    (refusal,) = machines.plan_of(machines.bundle("ROLE_INIT", own)).refusals
    assert (refusal.path, refusal.remedy) == (
        "engine_options.kubeadm.bootstrap_tokens[0].expire_time",
        "set ttl instead",
    )
    imported = machines.plan_of(machines.bundle("ROLE_INIT", own, "execution { literal_commands: true }"))
    assert [one.code for one in imported.diagnostics] == ["KUBEADM_FIELD_DROPPED"]
    assert "expires" not in machines.text(imported.files[-1].content)
