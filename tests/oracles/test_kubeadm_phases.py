"""The real kubeadm works on the machines that cloud-init left: certificates, kubeconfigs, static pods.

It finds the cluster's authorities where it looks for them and signs with them, and what it writes for the components
is what the spec says. The expected values are written by hand.
"""

import base64
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from tests.oracles import cluster, ours
from tests.oracles.booted import IMPORTED, NATIVE, in_groups, of_machine
from tests.oracles.machines import given_files
from tools.oracles import cloud_init, finding, kubeadm
from tools.oracles.cloud_init import MachineFacts
from tools.oracles.machine_state import MachineState
from tools.oracles.sandbox import Command, File

pytestmark = [pytest.mark.engine, pytest.mark.timeout(180)]

# The machine, the version of kubeadm, where its configuration is and where its certificates go.
MACHINES = {
    "harbour-cp-0": ("1.34", "/etc/slipway/kubeadm.yaml", "/etc/kubernetes/pki"),
    "kubeadm-v1beta2-init": ("1.34", "/run/kubeadm/kubeadm.yaml", "/etc/kubernetes/own-pki"),
    "kubeadm-v1beta2-old-init": ("1.30", "/run/kubeadm/kubeadm.yaml", "/etc/kubernetes/own-pki"),
}
PHASES = ("certs", "kubeconfig", "control-plane", "etcd")
ENDPOINTS = {"harbour-cp-0": "https://api.harbour.example.com:6443"}
OWN_ENDPOINT = "https://own.example.com:7443"
PROGRAM = "/opt/kubeadm"
# The imported configs name a folder of patches, which is the image's.
PATCH = "/etc/kubernetes/patches/kube-apiserver0+merge.yaml"
# kubeadm looks for the address of the default route.
NETWORK = tuple(
    Command(("ip", *words.split()))
    for words in (
        "link add eth0 type veth peer name gateway",
        "address add 192.0.2.50/24 dev eth0",
        "link set eth0 up",
        "link set gateway up",
        "route add default via 192.0.2.1",
    )
)
# By machine and component: arguments of the command line that kubeadm writes, of which ~ must not be there.
ARGUMENTS: dict[str, dict[str, dict[str, str | None]]] = {
    "harbour-cp-0": {
        "kube-apiserver": {
            "advertise-address": "192.0.2.50",
            "profiling": "false",
            "service-cluster-ip-range": "10.96.0.0/12",
            "secure-port": "6443",
        },
        "kube-controller-manager": {"cluster-cidr": "10.244.0.0/16", "cluster-name": "harbour"},
        "etcd": {"data-dir": "/var/lib/etcd"},
    },
    "kubeadm-v1beta2-init": {
        "kube-apiserver": {
            "advertise-address": "192.0.2.8",
            "secure-port": "6444",
            "audit-log-maxage": "10",
            "odd": 'it\'s: "quoted" # %s $HOME',
            "service-cluster-ip-range": "10.96.0.0/12",
        },
        "kube-controller-manager": {"bind-address": "0.0.0.0", "cluster-cidr": "10.244.0.0/16,fd00:10::/56"},
        "kube-scheduler": {"bind-address": "::"},
        "etcd": {"data-dir": "/var/lib/etcddisk/etcd", "quota-backend-bytes": "8589934592"},
    },
    "kubeadm-v1beta2-old-init": {
        "kube-apiserver": {"audit-log-maxage": "10", "profiling": "false"},
        "etcd": {"data-dir": "/var/lib/etcddisk/etcd"},
    },
}
SANS = {
    "harbour-cp-0": {"api.harbour.example.com", "192.0.2.10", "kubernetes"},
    "kubeadm-v1beta2-init": {
        "own.example.com",
        "192.0.2.7",
        "192.0.2.8",
        "node-7",
        "kubernetes.default.svc.pier.local",
    },
    "kubeadm-v1beta2-old-init": {"own.example.com", "192.0.2.8", "node-7", "kubernetes.default.svc.pier.local"},
}


@cache
def after_phases(name: str) -> MachineState:
    """The machine after cloud-init and the phases of the real kubeadm."""
    version, config, _ = MACHINES[name]
    question = NATIVE[name] if name in NATIVE else IMPORTED[name].question
    user_data = ours.render(question, "cloud-init").user_data
    facts = MachineFacts(local_hostname="node0", meta_data={"hostname": "node0"})
    files = {**given_files(), PATCH: File(b"metadata: {annotations: {patched: here}}\n")}
    files |= {PROGRAM: File(mode=0o755, host=kubeadm.program(version=version))}
    with cloud_init.opened(machine=facts, extra_files=files) as machine:
        machine.boot(user_data)
        words = [("local" if phase == "etcd" else "all") for phase in PHASES]
        phases = [
            Command((PROGRAM, "init", "phase", phase, word, "--config", config))
            for phase, word in zip(PHASES, words, strict=True)
        ]
        for outcome in machine.run(*NETWORK, *phases):
            assert outcome.status == 0, outcome.output.decode(errors="replace")
        return machine.state()


@pytest.mark.parametrize("name", in_groups(MACHINES))
def test_kubeadm_signs_with_the_authorities_of_the_cluster(name: str, engine: Callable[..., None]) -> None:
    """Certificates of all components are signed by what the machine was given, and made for the right names."""
    engine("root-trixie", "kubeadm", "kubeadm-provider")
    state, folder = after_phases(name), MACHINES[name][2]
    assert finding.errors(state.findings) == []
    for file, pem in cluster.pki().items():
        assert state.content(f"{folder}/{file}").decode().strip() == pem.strip()
    for leaf, authority in (("apiserver", "ca"), ("etcd/server", "etcd/ca"), ("front-proxy-client", "front-proxy-ca")):
        issuer = x509.load_pem_x509_certificate(state.content(f"{folder}/{authority}.crt"))
        certificate = x509.load_pem_x509_certificate(state.content(f"{folder}/{leaf}.crt"))
        certificate.verify_directly_issued_by(issuer)
    server = x509.load_pem_x509_certificate(state.content(f"{folder}/apiserver.crt"))
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {str(one.value) for one in names} >= SANS[name]


@pytest.mark.parametrize("name", in_groups(MACHINES))
def test_kubeadm_writes_what_the_spec_says(name: str, engine: Callable[..., None]) -> None:
    """Static pods carry the spec's arguments, kubeconfigs its endpoint and the cluster's authority."""
    engine("root-trixie", "kubeadm", "kubeadm-provider")
    state = after_phases(name)
    for component, arguments in ARGUMENTS[name].items():
        manifest = yaml.safe_load(state.content(f"/etc/kubernetes/manifests/{component}.yaml"))
        (container,) = manifest["spec"]["containers"]
        given = dict(word[2:].partition("=")[::2] for word in container["command"][1:])
        assert {key: given.get(key) for key in arguments} == arguments
    admin = yaml.safe_load(state.content("/etc/kubernetes/admin.conf"))["clusters"][0]["cluster"]
    assert base64.b64decode(admin["certificate-authority-data"]).decode() == cluster.pki()["ca.crt"]
    assert admin["server"] == ENDPOINTS.get(name, OWN_ENDPOINT)


@of_machine("kubeadm-v1beta2-init")
def test_keys_are_of_the_kind_that_was_asked_for(engine: Callable[..., None]) -> None:
    """The newer API knows the algorithm of keys: kubeadm itself makes one of it."""
    engine("root-trixie", "kubeadm", "kubeadm-provider")
    state = after_phases("kubeadm-v1beta2-init")
    server = x509.load_pem_x509_certificate(state.content("/etc/kubernetes/own-pki/apiserver.crt"))
    key: Any = server.public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert key.curve.name == "secp256r1"
    assert (server.not_valid_after_utc - server.not_valid_before_utc).days in {100, 101}
