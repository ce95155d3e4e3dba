"""The cluster's secrets as Kubernetes Secrets, behind the bootstrapper's own store interface.

Names and keys of the four secrets that every kubeadm cluster has are Cluster API's, so that control-plane providers
find ours and we theirs. What a provisioner declares besides stands in Secrets of its own. All of them belong to the
Cluster, without its being their controller: they go with it, and move with it.
"""

import asyncio
import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509

from slipway.bootstrapper.credentials.cluster_secrets import (
    BOOTSTRAP_TOKEN,
    CLUSTER_CA,
    ENCRYPTION_KEY,
    ETCD_CA,
    ETCD_CLIENT,
    FRONT_PROXY_CA,
    SERVICE_ACCOUNT,
)
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.generation import KEYS, SecretFactory
from slipway.bootstrapper.credentials.store import ClusterKey, Credentials, KeySettings, by_name, sorted_secrets
from slipway.controller.cluster_object import CLUSTER_LABEL, ClusterObject
from slipway.controller.data_secret import TYPE
from slipway.controller.halt import Halt
from slipway.controller.reasons import Reason
from slipway.controller.secret_reader import NAME_ANNOTATION, SecretReader, Values
from slipway.kubernetes_api.failures import Conflict, NotFound
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import CLUSTERS, SECRETS, Json
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb

SUFFIXES = {
    CLUSTER_CA: "ca",
    ETCD_CA: "etcd",
    FRONT_PROXY_CA: "proxy",
    SERVICE_ACCOUNT: "sa",
    ETCD_CLIENT: "apiserver-etcd-client",
}
"""Suffixes of the names of Cluster API's own Secrets (util/secret/consts.go)."""

SEED_SUFFIX = "slipway-token-seed"
_OWN = "slipway.dev/"
_TRIES = 3


def secret_name(cluster: str, name: str) -> str:
    """Give the name of the Secret that holds a secret of a cluster.

    Within a cluster it is unique: of what is declared, the part behind the slash has no dot (policy.py). Between
    clusters it is not (cluster "a" with domain "b-x.dev", cluster "a-b" with "x.dev"; "a" with "x.dev/m-ca", cluster
    "a-x.dev.m" with its own authority), so owner and declared name are checked as well.
    """
    return f"{cluster}-{SUFFIXES.get(name) or name.replace('/', '.')}"


def cluster_owner(cluster: ClusterObject) -> Json:
    """Give the reference by which a Secret belongs to a Cluster without being controlled by it."""
    return {
        "apiVersion": CLUSTERS.api_version,
        "kind": CLUSTERS.kind,
        "name": cluster.name,
        "uid": cluster.uid,
    }


@dataclass(frozen=True, slots=True)
class ClusterStore:
    """The store of one machine's render.

    It takes no thread while it waits: many machines that wait at once would leave none to the calls they wait for.

    Attributes:
        cluster: the Cluster.
        role: the machine's role: only what it may have is read, and only the first machine makes the cluster's own.
        token: the machine's token.
        token_secret: name of the secret in which a machine that joins has it; its engine declares it.
    """

    objects: Objects
    reader: SecretReader
    clock: Callable[[], datetime]
    cluster: ClusterObject
    role: clusterpb.Role.ValueType
    token: str
    token_secret: str = BOOTSTRAP_TOKEN

    def __repr__(self) -> str:
        return f"ClusterStore({self.cluster.namespace}/{self.cluster.name})"

    async def give(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give every declared secret that the role may have; make what is missing and ours to make."""
        del cluster
        return Credentials(secrets=sorted_secrets(await self._ensure(list(declarations), settings)))

    async def _ensure(
        self, declarations: list[secretpb.SecretDeclaration], settings: KeySettings
    ) -> list[secretpb.Secret]:
        role = clusterpb.Role.Name(self.role)
        wanted = [
            declaration
            for declaration in declarations
            if role in declaration.full_roles or role in declaration.public_roles
        ]
        # An authority is needed as well where what it signs has to be made.
        issuers = {declaration.issuer for declaration in wanted if declaration.issuer}
        wanted += [
            declaration for declaration in declarations if declaration.name in issuers and declaration not in wanted
        ]
        secrets: list[secretpb.Secret] = []
        missing: list[secretpb.SecretDeclaration] = []
        for declaration in wanted:
            held = self._own_token(declaration) or await self._read(declaration)
            secrets += held
            if not held and self._may_make(declaration):
                missing.append(declaration)
        if missing:
            secrets += await self._make(missing, secrets, settings)
        return secrets

    def _own_token(self, declaration: secretpb.SecretDeclaration) -> list[secretpb.Secret]:
        """Give the machine's own token: that of a joining machine has the name that its engine declares for it."""
        joins = self.role != clusterpb.ROLE_INIT
        if declaration.name != BOOTSTRAP_TOKEN and not (joins and declaration.name == self.token_secret):
            return []
        (key,) = KEYS[declaration.kind]
        return [secretpb.Secret(name=declaration.name, key=key, kind=declaration.kind, value=self.token.encode())]

    def _may_make(self, declaration: secretpb.SecretDeclaration) -> bool:
        if not _is_ours(declaration):
            return True
        # No provider of control planes knows of the key of the encryption at rest.
        is_theirs = self.cluster.control_plane_reference is not None and declaration.name != ENCRYPTION_KEY
        return self.role == clusterpb.ROLE_INIT and not is_theirs

    async def _read(self, declaration: secretpb.SecretDeclaration) -> list[secretpb.Secret]:
        name = secret_name(self.cluster.name, declaration.name)
        declared = _declared_name(declaration)
        values = await self.reader.shared(self.cluster.namespace, name, declared=declared)
        if values is not None:
            self._check_owner(declaration, name)
        if values is None or self._expired(declaration, values):
            return []
        return _secrets(declaration, values)

    def _expired(self, declaration: secretpb.SecretDeclaration, values: Values) -> bool:
        """Return whether a client's certificate has to be made anew. Authorities are renewed by people only."""
        if declaration.kind != secretpb.SECRET_KIND_CLIENT_CERTIFICATE:
            return False
        try:
            certificate = x509.load_pem_x509_certificate(values.get("tls.crt", b""))
        except ValueError:
            return True
        return certificate.not_valid_after_utc <= self.clock()

    async def _make(
        self,
        missing: list[secretpb.SecretDeclaration],
        existing: list[secretpb.Secret],
        settings: KeySettings,
    ) -> list[secretpb.Secret]:
        factory = SecretFactory(entropy=SystemEntropy(), clock=self.clock)
        held = list(existing)
        made: list[secretpb.Secret] = []
        for declaration in sorted(missing, key=lambda declared: bool(declared.issuer)):
            fresh = await asyncio.to_thread(
                factory.make_missing, [declaration], existing=by_name(held), settings=settings
            )
            stored = await self._store(declaration, fresh)
            held += stored
            made += stored
        return made

    async def _store(
        self, declaration: secretpb.SecretDeclaration, fresh: list[secretpb.Secret]
    ) -> list[secretpb.Secret]:
        """Create the Secret; if another controller was quicker, its Secret counts."""
        name = secret_name(self.cluster.name, declaration.name)
        body = owned_secret(self.cluster, name, {secret.key: secret.value for secret in fresh})
        if declaration.name not in SUFFIXES:
            body["metadata"]["annotations"] = {NAME_ANNOTATION: declaration.name}
        namespace = self.cluster.namespace
        for _ in range(_TRIES):
            values = await self.reader.made(self.objects, body)
            self._check_owner(declaration, name)
            if not self._expired(declaration, values):
                return _secrets(declaration, values)
            # What is there has expired: only client certificates do, and only machines to come need them.
            patch = {"metadata": self.reader.identity(namespace, name), "data": body["data"]}
            try:
                changed = await self.objects.merge(SECRETS, namespace, name, patch)
            except (Conflict, NotFound):
                # Another controller was quicker: what it wrote counts.
                self.reader.forget(namespace, name)
            else:
                return _secrets(declaration, self.reader.keep(changed))
        raise Conflict("PATCH", SECRETS.kind, name)

    def _check_owner(self, declaration: secretpb.SecretDeclaration, name: str) -> None:
        """Check that a Secret which was just read holds what was declared, and for this cluster.

        Cluster API's own Secrets may come from people, who need not label them; but none of them has the annotation.
        Those that version 0.1.0 made have no annotation either.

        Raises:
            Halt: it belongs to another cluster, or holds another secret.
        """
        self.reader.check_name(self.cluster.namespace, name, declared=_declared_name(declaration))
        labels, _ = self.reader.labels_and_annotations(self.cluster.namespace, name)
        if declaration.name not in SUFFIXES and labels.get(CLUSTER_LABEL) != self.cluster.name:
            problem = f"the Secret {name} does not belong to the cluster, or holds another secret than the declared one"
            raise Halt(Reason.DATA_SECRET_TAKEN, f"{problem}; rename the cluster, or delete the Secret", retry=True)


def _declared_name(declaration: secretpb.SecretDeclaration) -> str:
    """Give the name that stands in the annotation of a declared secret, "" for one that has no annotation."""
    return "" if declaration.name in SUFFIXES else declaration.name


def _is_ours(declaration: secretpb.SecretDeclaration) -> bool:
    """Whether a secret is the cluster's own, not one that a provisioner declares."""
    return declaration.name.startswith(_OWN)


def owned_secret(cluster: ClusterObject, name: str, data: Values) -> Json:
    """Give a Secret that belongs to a Cluster."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TYPE,
        "metadata": {
            "name": name,
            "namespace": cluster.namespace,
            "labels": {CLUSTER_LABEL: cluster.name},
            "ownerReferences": [cluster_owner(cluster)],
        },
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }


def _secrets(declaration: secretpb.SecretDeclaration, values: Values) -> list[secretpb.Secret]:
    return [
        secretpb.Secret(name=declaration.name, key=key, kind=declaration.kind, value=value)
        for key, value in sorted(values.items())
        if value
    ]
