"""kubeadm itself takes the cluster's generated authorities and keys, and issues its own certificates from them."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from slipway.bootstrapper.credentials.cluster_secrets import (
    CLUSTER_CA,
    ETCD_CA,
    FRONT_PROXY_CA,
    SERVICE_ACCOUNT,
    cluster_declarations,
)
from slipway.bootstrapper.credentials.entropy import KeyType, SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.credentials.store import ClusterKey, CredentialStore, KeySettings
from tools.oracles import kubeadm

pytestmark = pytest.mark.engine

FILES = {
    CLUSTER_CA: ("ca.crt", "ca.key"),
    ETCD_CA: ("etcd/ca.crt", "etcd/ca.key"),
    FRONT_PROXY_CA: ("front-proxy-ca.crt", "front-proxy-ca.key"),
    SERVICE_ACCOUNT: ("sa.pub", "sa.key"),
}
CONFIG = """apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {{advertiseAddress: 192.0.2.1}}
nodeRegistration: {{name: node, criSocket: unix:///run/containerd/containerd.sock}}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.34.2
certificatesDir: {folder}
encryptionAlgorithm: {algorithm}
"""
ISSUED = {
    "apiserver.crt": "ca.crt",
    "apiserver-kubelet-client.crt": "ca.crt",
    "front-proxy-client.crt": "front-proxy-ca.crt",
    "etcd/server.crt": "etcd/ca.crt",
    "apiserver-etcd-client.crt": "etcd/ca.crt",
}


def issue(tmp_path: Path, store: CredentialStore, key_type: KeyType) -> subprocess.CompletedProcess[bytes]:
    """Lay out a PKI as a control-plane machine has it, and have kubeadm issue all certificates."""
    pki = tmp_path / "pki"
    settings = KeySettings(key_type=key_type)
    for secret in store.ensure(ClusterKey("c"), cluster_declarations(), settings).secrets:
        if secret.name in FILES:
            path = pki / FILES[secret.name][secret.key == "tls.key"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(secret.value)
    config = tmp_path / "kubeadm.yaml"
    config.write_text(CONFIG.format(folder=pki, algorithm=key_type.value))
    command = [kubeadm.program(), "init", "phase", "certs", "all", "--config", config]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    return subprocess.run(command, capture_output=True, check=False, env=environment, timeout=60)


@pytest.mark.parametrize("key_type", [KeyType.RSA_2048, KeyType.ECDSA_P256, KeyType.ECDSA_P384])
def test_kubeadm_issues_certificates_from_our_authorities(engine: Any, tmp_path: Path, key_type: KeyType) -> None:
    """Every certificate that kubeadm makes is signed by the authority that it should be; ours are left alone."""
    engine("kubeadm-1.34")
    # kubeadm looks at the clock: a fixed one would make authorities that are not valid yet, or no longer.
    factory = SecretFactory(entropy=SystemEntropy(), clock=lambda: datetime.now(UTC))
    done = issue(tmp_path, EphemeralStore(factory), key_type)
    assert done.returncode == 0, done.stderr.decode()
    for name, authority in ISSUED.items():
        issuer = x509.load_pem_x509_certificate((tmp_path / "pki" / authority).read_bytes())
        x509.load_pem_x509_certificate((tmp_path / "pki" / name).read_bytes()).verify_directly_issued_by(issuer)
    for line in (
        "existing ca certificate authority",
        "existing etcd/ca",
        "existing front-proxy-ca",
        'existing "sa" key',
    ):
        assert line in done.stdout.decode()


def test_placeholders_are_parsed_like_the_real_thing(engine: Any, tmp_path: Path) -> None:
    """Kubeadm reads them, and refuses them only because they are long out of date."""
    engine("kubeadm-1.34")
    done = issue(tmp_path, PlaceholderStore(), KeyType.RSA_2048)
    assert done.returncode != 0
    assert "expired" in (done.stdout + done.stderr).decode()
