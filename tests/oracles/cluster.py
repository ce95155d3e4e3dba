"""One cluster for all comparisons: whoever renders, the authorities, keys and the token are the same."""

from functools import cache

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.cluster_secrets import cluster_declarations
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.pem import public_key_hashes
from slipway.bootstrapper.credentials.store import ClusterKey, KeySettings
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb

ENDPOINT = "api.pier.example.com:6443"
_PEM_FILES = {
    "cluster-ca": ("ca.crt", "ca.key"),
    "etcd-ca": ("etcd/ca.crt", "etcd/ca.key"),
    "front-proxy-ca": ("front-proxy-ca.crt", "front-proxy-ca.key"),
    "service-account": ("sa.pub", "sa.key"),
}


def facts() -> clusterpb.Cluster:
    """What a Cluster object says."""
    host, port = ENDPOINT.split(":")
    return clusterpb.Cluster(
        name="pier",
        endpoint=clusterpb.Endpoint(host=host, port=int(port)),
        pod_cidrs=["10.244.0.0/16", "fd00:10::/56"],
        service_cidrs=["10.96.0.0/12"],
        service_domain="pier.local",
    )


@cache
def secrets() -> tuple[secretpb.Secret, ...]:
    """The cluster's secrets, made once a session; elliptic keys, since they are made and written fast."""
    store = EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))
    made = store.ensure(ClusterKey("pier", "default"), cluster_declarations(), KeySettings())
    return tuple(made.secrets)


def pki() -> dict[str, str]:
    """The same authorities and keys, by file name below /etc/kubernetes/pki."""
    held = {(secret.name.rpartition("/")[2], secret.key): secret.value.decode() for secret in secrets()}
    return {
        file: held[name, key]
        for name, files in _PEM_FILES.items()
        for file, key in zip(files, ("tls.crt", "tls.key"), strict=True)
    }


def token() -> str:
    """The cluster's bootstrap token."""
    return next(secret.value.decode() for secret in secrets() if secret.key == "token")


def ca_hashes() -> list[str]:
    """What a joining machine knows the cluster's authority by."""
    return public_key_hashes(pki()["ca.crt"].encode())
