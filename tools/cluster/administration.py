"""What an administrator of an API server here can do with nothing but the server's directory.

So a process that has not started the server, another test worker for one, has the same means as the one that has.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml
from cryptography.hazmat.primitives.asymmetric import ec

from tools.cluster import applying, audit
from tools.cluster.access import Access
from tools.cluster.authority import Authority, pem, write_key
from tools.cluster.client import Client, Object
from tools.cluster.failures import Refused

PORT = 16443
_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1")
_ADMINISTRATORS = "system:masters"
_CONFLICT = 409


@dataclass(frozen=True)
class Administration:
    """The API server at a loopback address whose certificates and logs are in the directory."""

    directory: Path
    address: str

    def create(self, name: str) -> None:
        """Make authority, keys, the administrator's kubeconfig and the audit policy, for a server that is to start."""
        self.directory.mkdir(parents=True, exist_ok=True)
        authority = Authority.create(name)
        (self.directory / "ca.crt").write_bytes(authority.certificate)
        write_key(self.directory / "ca.key", authority.pair.key)
        write_key(self.directory / "sa.key", pem(ec.generate_private_key(ec.SECP256R1())))
        authority.server(self.address, *_NAMES).write(self.directory / "serving")
        self.access("admin", groups=(_ADMINISTRATORS,)).write(self.kubeconfig)
        audit.write_policy(self.directory / "audit-policy.json")

    @property
    def endpoint(self) -> tuple[str, int]:
        """Host and port."""
        return self.address, PORT

    @property
    def server(self) -> str:
        """The URL."""
        return f"https://{self.address}:{PORT}"

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of somebody who may do everything."""
        return self.directory / "admin.kubeconfig"

    @property
    def audit(self) -> audit.Log:
        """What the server was asked."""
        return audit.Log(self.directory / "audit.log")

    @cached_property
    def authority(self) -> Authority:
        """Who signs for the server, its webhooks and its users."""
        return Authority.load((self.directory / "ca.crt").read_bytes(), (self.directory / "ca.key").read_bytes())

    @cached_property
    def client(self) -> Client:
        """A client that may do everything."""
        return Client(self.access("admin", groups=(_ADMINISTRATORS,)))

    def access(self, user: str, *, groups: Sequence[str] = ()) -> Access:
        """Access for a user by certificate."""
        return Access(self.server, self.authority.certificate, user, self.authority.client(user, groups=groups))

    def service_account(self, namespace: str, name: str) -> Access:
        """Access for a service account by a token of its own for a day; it and its namespace are made when absent."""
        self.ensure({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
        self.ensure(account)
        user = f"system:serviceaccount:{namespace}:{name}"
        return Access(self.server, self.authority.certificate, user, token=self.token(namespace, name))

    def token(self, namespace: str, account: str, *, audience: str = "") -> str:
        """A token of a service account that is there, for a day; without an audience it is the API server's."""
        request: Object = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 24 * 3600, **({"audiences": [audience]} if audience else {})},
        }
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        answer = self.client.request("POST", path, request)
        return str(answer["status"]["token"])

    def authority_secret(self, cluster: str, *, namespace: str = "default") -> Object:
        """The Secret by which a management cluster knows this server's authority as that of a cluster."""
        pair = self.authority.pair
        return _cluster_secret(
            f"{cluster}-ca", cluster, namespace=namespace, data={"tls.crt": pair.certificate, "tls.key": pair.key}
        )

    def kubeconfig_secret(self, cluster: str, *, namespace: str = "default") -> Object:
        """The Secret by which a management cluster reaches this server as that of a cluster."""
        data = {"value": self.kubeconfig.read_bytes()}
        return _cluster_secret(f"{cluster}-kubeconfig", cluster, namespace=namespace, data=data)

    def ensure(self, document: Object) -> None:
        """Create an object unless there is one with its name."""
        try:
            self.client.create(document)
        except Refused as refused:
            if refused.status != _CONFLICT:
                raise

    def apply(self, documents: Sequence[Object]) -> None:
        """Apply documents: definitions first, the others once the kinds can be used; errors as of ``applying``."""
        applying.apply(self.client, documents)

    def apply_yaml(self, text: str) -> None:
        """``apply`` for YAML documents."""
        self.apply([document for document in yaml.safe_load_all(text) if document])


def _cluster_secret(name: str, cluster: str, *, namespace: str, data: Mapping[str, bytes]) -> Object:
    labels = {"cluster.x-k8s.io/cluster-name": cluster}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }
