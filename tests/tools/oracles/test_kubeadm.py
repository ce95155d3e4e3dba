"""kubeadm's own loader in two versions: what it takes and understands, and that broken input is flagged."""

import subprocess

import pytest
import yaml

from tools.oracles import finding, kubeadm, roots, sandbox
from tools.oracles.failures import EngineBroken
from tools.oracles.kubeadm import Action
from tools.oracles.sandbox import Command, File

pytestmark = pytest.mark.engine

INIT = b"""\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 192.0.2.1}
nodeRegistration: {name: n1}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.34.10
controlPlaneEndpoint: "192.0.2.9:6443"
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 42
"""
JOIN = b"""\
apiVersion: kubeadm.k8s.io/v1beta3
kind: JoinConfiguration
nodeRegistration: {name: n1}
discovery:
  bootstrapToken:
    token: abcdef.0123456789abcdef
    apiServerEndpoint: "192.0.2.9:6443"
    unsafeSkipCAVerification: true
"""


def old(document: bytes) -> bytes:
    return document.replace(b"v1beta4", b"v1beta3").replace(b"v1.34.10", b"v1.30.5")


@pytest.mark.parametrize(
    ("document", "version"),
    [(INIT, kubeadm.CURRENT), (old(INIT), kubeadm.OLDER), (JOIN, kubeadm.CURRENT), (JOIN, kubeadm.OLDER)],
)
def test_good_documents(engine, document, version):
    """Each API version is taken by the kubeadm that it is for."""
    engine("kubeadm")
    assert finding.errors(kubeadm.validate(document, version=version)) == []


@pytest.mark.parametrize(
    ("document", "version", "words"),
    [
        (INIT.replace(b"kubernetesVersion", b"kubernetesVersio"), kubeadm.CURRENT, "unknown field"),
        (INIT.replace(b"maxPods", b"maxPod"), kubeadm.CURRENT, "unknown field"),
        (INIT, kubeadm.OLDER, "v1beta4"),
        (old(INIT), kubeadm.CURRENT, "1.30.5"),
        (JOIN.replace(b"abcdef.", b"abcdef"), kubeadm.CURRENT, "token"),
    ],
)
def test_broken_documents_are_flagged(engine, document, version, words):
    """A misspelt field, of the kubelet too, a wrong version and a bad token are refused."""
    engine("kubeadm")
    assert any(words in error.message for error in finding.errors(kubeadm.validate(document, version=version)))


@pytest.mark.parametrize(("document", "version"), [(INIT, kubeadm.CURRENT), (old(INIT), kubeadm.OLDER)])
def test_effective_init(engine, document, version):
    """What kubeadm understood has our values and its own defaults, the kubelet's document included."""
    engine("kubeadm")
    understood = {one["kind"]: one for one in kubeadm.effective(document, action=Action.INIT, version=version)}
    assert understood["ClusterConfiguration"]["controlPlaneEndpoint"] == "192.0.2.9:6443"
    assert understood["ClusterConfiguration"]["networking"]["serviceSubnet"] == "10.96.0.0/12"
    assert understood["InitConfiguration"]["nodeRegistration"]["name"] == "n1"
    assert understood["KubeletConfiguration"]["maxPods"] == 42


def test_effective_join(engine):
    """A v1beta3 join means the same to both versions, each in its own API version."""
    engine("kubeadm")
    (now,) = kubeadm.effective(JOIN, action=Action.JOIN)
    (then,) = kubeadm.effective(JOIN, action=Action.JOIN, version=kubeadm.OLDER)
    assert (now["apiVersion"], then["apiVersion"]) == ("kubeadm.k8s.io/v1beta4", "kubeadm.k8s.io/v1beta3")
    assert now["discovery"]["bootstrapToken"] == then["discovery"]["bootstrapToken"]


def test_refused_document_has_no_meaning(engine):
    """Asking what a refused document means is an error, not an empty answer."""
    engine("kubeadm")
    with pytest.raises(EngineBroken, match="unknown field"):
        kubeadm.effective(INIT.replace(b"maxPods", b"maxPod"), action=Action.INIT)


def test_migrate(engine):
    """The own migration of kubeadm takes a v1beta3 document to v1beta4."""
    engine("kubeadm")
    (migrated,) = kubeadm.migrate(JOIN)
    assert migrated["apiVersion"] == "kubeadm.k8s.io/v1beta4"


@pytest.mark.parametrize(("version", "says"), [(kubeadm.CURRENT, "v1.34.10"), (kubeadm.OLDER, "v1.30.5")])
def test_program_is_kubeadm(engine, version, says):
    """The same binary is the real kubeadm, of that version."""
    engine("kubeadm")
    command = [kubeadm.program(version=version), "version", "-o", "short"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == says


@pytest.mark.parametrize("version", [kubeadm.CURRENT, kubeadm.OLDER])
def test_program_works_on_a_machine(engine, version):
    """The real kubeadm makes certificates, kubeconfigs and manifests on a machine."""
    engine("kubeadm", "root-trixie")
    document = INIT if version == kubeadm.CURRENT else old(INIT)
    phases = ("certs all", "kubeconfig all", "control-plane all", "etcd local")
    commands = [
        Command(("kubeadm", "init", "phase", *phase.split(), "--config", "/run/kubeadm/kubeadm.yaml"))
        for phase in phases
    ]
    files = {
        "/usr/local/bin/kubeadm": File(mode=0o755, host=kubeadm.program(version=version)),
        "/run/kubeadm/kubeadm.yaml": File(document, 0o600),
    }
    with sandbox.opened(roots.ROOTS["trixie"].require(), hostname="n1") as machine:
        outcomes = machine.session(commands, files=files)
        manifest = machine.upper / "etc/kubernetes/manifests/kube-apiserver.yaml"
        assert [outcome.status for outcome in outcomes] == [0] * len(phases), outcomes
        arguments = yaml.safe_load(manifest.read_text())["spec"]["containers"][0]["command"]
    assert "--advertise-address=192.0.2.1" in arguments
