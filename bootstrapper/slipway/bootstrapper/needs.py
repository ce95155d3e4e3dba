"""Which of the cluster's secrets a machine's bundle needs."""

from collections.abc import Iterable, Sequence

from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.compliance.application import is_encrypted_by_us
from slipway.bootstrapper.credentials.cluster_secrets import (
    BOOTSTRAP_TOKEN,
    ETCD_CA,
    ETCD_CLIENT,
    cluster_declarations,
    encryption_key,
)
from slipway.bootstrapper.engines.table import SPEC_FIELD, EngineTable
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb


def needed(
    subject: CheckedSubject, engines: EngineTable, *, takes_plan: bool
) -> tuple[secretpb.SecretDeclaration, ...]:
    """Declare what a machine needs of the cluster's secrets, as far as the spec leaves them to us.

    A format that takes plans needs what the machine's engine does; one that takes the intent, what every cluster has.
    With external etcd its secrets are the user's: never generated, and optional, since the image may have the files.
    A spec that brings a token, or a kubeconfig for the discovery, needs no token of the cluster. A plan of the caller's
    own needs none of the cluster's secrets.

    Raises:
        SpecInvalid: the spec names an engine that is not installed.
    """
    if subject.plan is not None:
        return ()
    spec = subject.spec.kubernetes
    declared: Sequence[secretpb.SecretDeclaration] = cluster_declarations()
    if takes_plan:
        declared = engines.choose(spec, subject.cluster, field=SPEC_FIELD).secrets(spec)
        declared = [*declared, *([encryption_key()] if is_encrypted_by_us(spec) else [])]
    without = {ETCD_CA} if spec.etcd.HasField("external") else set()
    own_discovery = spec.discovery.HasField("file") or spec.discovery.token.HasField("token")
    if own_discovery and subject.machine.role != clusterpb.ROLE_INIT:
        without.add(BOOTSTRAP_TOKEN)
    return tuple(declaration for declaration in declared if declaration.name not in without)


def user_secrets(subject: CheckedSubject, material: Iterable[secretpb.Secret]) -> list[secretpb.Secret]:
    """Give those of a request's secrets that are the user's own: files, passwords, and external etcd's."""
    external = subject.spec.kubernetes.etcd.HasField("external")
    control_plane = subject.machine.role != clusterpb.ROLE_WORKER
    theirs = {ETCD_CA, ETCD_CLIENT} if external and control_plane else set()
    return [secret for secret in material if "/" not in secret.name or secret.name in theirs]
