"""Which of the cluster's secrets a machine's bundle needs."""

from collections.abc import Iterable

from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.credentials.cluster_secrets import (
    BOOTSTRAP_TOKEN,
    ETCD_CA,
    ETCD_CLIENT,
    cluster_declarations,
)
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb


def needed(subject: CheckedSubject, declared: Iterable[secretpb.SecretDeclaration]) -> list[secretpb.SecretDeclaration]:
    """Declare what a machine needs: the cluster's own secrets as far as the spec leaves them to us, and the format's.

    With external etcd its secrets are the user's: never generated, and optional, since the image may have the files.
    A spec that brings a token, or a kubeconfig for the discovery, needs no token of the cluster. A plan of the caller's
    own needs none of the cluster's secrets.
    """
    if subject.plan is not None:
        return list(declared)
    spec = subject.spec.kubernetes
    external = spec.etcd.HasField("external")
    own_discovery = spec.discovery.HasField("file") or spec.discovery.token.HasField("token")
    without = set()
    if external:
        without |= {ETCD_CA}
    if own_discovery and subject.machine.role != clusterpb.ROLE_INIT:
        without.add(BOOTSTRAP_TOKEN)
    return [one for one in cluster_declarations() if one.name not in without] + list(declared)


def user_secrets(subject: CheckedSubject, material: Iterable[secretpb.Secret]) -> list[secretpb.Secret]:
    """Give those of a request's secrets that are the user's own: files, passwords, and external etcd's."""
    external = subject.spec.kubernetes.etcd.HasField("external")
    control_plane = subject.machine.role != clusterpb.ROLE_WORKER
    theirs = {ETCD_CA, ETCD_CLIENT} if external and control_plane else set()
    return [one for one in material if "/" not in one.name or one.name in theirs]
