"""Values of Secrets and ConfigMaps. What many machines share is read once for each version of it."""

import asyncio
import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping
from weakref import WeakValueDictionary

from slipway.controller.cluster_object import CLUSTER_LABEL
from slipway.controller.halt import Halt
from slipway.controller.reasons import Reason
from slipway.kubernetes_api.failures import AlreadyExists, ApiFailure, NotFound
from slipway.kubernetes_api.objects import Lookup, Objects
from slipway.kubernetes_api.resources import CLUSTERS, CONFIG_MAPS, SECRETS, Json

Values = Mapping[str, bytes]

_CLUSTER_TYPES = frozenset(
    {"cluster.x-k8s.io/secret", "bootstrap.kubernetes.io/token", "kubernetes.io/service-account-token"}
)
_CLUSTER_SUFFIXES = (
    *("ca", "etcd", "proxy", "sa", "apiserver-etcd-client", "kubeconfig"),
    *("talos", "talosconfig"),
    "slipway-token-seed",
)
"""Suffixes of the names of a cluster's Secrets: Cluster API's (util/secret/consts.go), those of its Talos control plane
(cluster-api-control-plane-provider-talos), and the seed of our tokens."""


NAME_ANNOTATION = "bootstrap.slipway.dev/secret-name"
"""Annotation of a Secret that a provisioner declared: the declared name, of which the Secret's is made."""

_CONTROLLERS = frozenset({"controlplane.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io"})
_KUBECONFIG = re.compile(rb"""(?m)^["']?current-context["']?[ ]*:|[{,][\s]*["']?current-context["']?[ ]*:""")
"""A key that every usable kubeconfig has, in YAML and in JSON."""


class SecretReader:
    """Reads them; `metadata` is the local copy of the metadata of all Secrets, `clusters` that of all Clusters."""

    def __init__(self, objects: Objects, metadata: Lookup, clusters: Lookup) -> None:
        """Read by an API, and remember values as long as the metadata show that they are the same."""
        self._objects = objects
        self._metadata = metadata
        self._clusters = clusters
        self._kept: dict[tuple[str, str], tuple[tuple[str, str], Values, bool]] = {}
        self._marks: dict[tuple[str, str], tuple[Mapping[str, str], Mapping[str, str]]] = {}
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._failed: dict[tuple[str, str], ApiFailure] = {}

    async def shared(self, namespace: str, name: str, *, declared: str = "") -> Values | None:
        """Give the values of a Secret of a cluster, or None when it is not there.

        Args:
            namespace: of the Secret.
            name: of the Secret.
            declared: the name by which a provisioner declared what it holds, "" for one that every cluster has.

        Raises:
            ApiFailure: it cannot be read. Those who waited for another's try fail with it: each trying in turn
                would take as long as all of them together.
            Halt: it holds what was declared by another name.
        """
        before = self._failed.get((namespace, name))
        async with self.lock(namespace, name):
            failed = self._failed.get((namespace, name))
            if failed is not None and failed is not before:
                raise failed
            try:
                values = await self._shared(namespace, name)
            except ApiFailure as error:
                self._failed[namespace, name] = error
                raise
            self._failed.pop((namespace, name), None)
            if values is not None:
                self.check_name(namespace, name, declared=declared)
            return values

    def check_name(self, namespace: str, name: str, *, declared: str) -> None:
        """Check that a Secret which was just read or made holds what was declared by a name, "" for none.

        Clusters have dots in their names, too: "a-x.dev.m" with the suffix "-ca" is as "a" with "x.dev/m-ca".

        Raises:
            Halt: it says that it holds another one.
        """
        _, annotations = self.labels_and_annotations(namespace, name)
        if annotations.get(NAME_ANNOTATION, declared) != declared:
            problem = f"the Secret {name} does not belong to the cluster, or holds another secret than the declared one"
            raise Halt(Reason.DATA_SECRET_TAKEN, f"{problem}; rename the cluster, or delete the Secret", retry=True)

    def lock(self, namespace: str, name: str) -> asyncio.Lock:
        """Give the lock of a Secret: many machines of a cluster ask for the same at once, and one of them makes it."""
        return self._turns.setdefault((namespace, name), asyncio.Lock())

    async def _shared(self, namespace: str, name: str) -> Values | None:
        known = self._metadata.get(namespace, name)
        kept = self._kept.get((namespace, name))
        # What was made a moment ago is not in the local copy yet.
        if kept is not None and (_version(known) == kept[0] if known is not None else kept[2]):
            return kept[1]
        try:
            secret = await self._objects.get(SECRETS, namespace, name)
        except NotFound:
            self._drop(namespace, name)
            return None
        return self.keep(secret)

    async def made(self, objects: Objects, body: Json) -> Values:
        """Create a Secret of a cluster, or read the one that another controller made first; give its values."""
        namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
        async with self.lock(namespace, name):
            held = await self._shared(namespace, name)
            if held is not None:
                return held
            try:
                return self.keep(await objects.create(SECRETS, namespace, body))
            except AlreadyExists:
                return self.keep(await objects.get(SECRETS, namespace, name))

    def keep(self, secret: Json) -> Values:
        """Remember a Secret that was just read or made; give its values."""
        metadata = secret["metadata"]
        values = decoded(secret.get("data") or {})
        fresh = self._metadata.get(metadata["namespace"], metadata["name"]) is None
        place = metadata["namespace"], metadata["name"]
        self._kept[place] = (_version(secret), values, fresh)
        self._marks[place] = metadata.get("labels") or {}, metadata.get("annotations") or {}
        return values

    def identity(self, namespace: str, name: str) -> dict[str, str]:
        """Give uid and resourceVersion of a Secret that was just read or made, as metadata of a patch."""
        (uid, version), _, _ = self._kept[namespace, name]
        return {"uid": uid, "resourceVersion": version}

    def labels_and_annotations(self, namespace: str, name: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return labels and annotations of a Secret that was just read or made."""
        return self._marks[namespace, name]

    def forget(self, namespace: str, name: str) -> None:
        """Read it again the next time."""
        self._drop(namespace, name)

    def _drop(self, namespace: str, name: str) -> None:
        self._kept.pop((namespace, name), None)
        self._marks.pop((namespace, name), None)

    async def secret(self, namespace: str, name: str, *, cluster: str) -> Values | None:
        """Return the values of a user's Secret as they are now, or None when it is not there.

        Who may write a config is not for that reason one who may read the keys of a cluster: a Secret that belongs to
        one is refused. Its type says so, an owner that is a control plane, or its name where a person made it, that of
        any Cluster in the namespace or to which it refers. A kubeconfig that has an owner was made by a controller, of
        whichever name. A label or a Cluster as owner alone says nothing: infrastructure providers label Secrets that
        users refer to, and users have theirs move with a Cluster.

        Raises:
            Halt: it belongs to a cluster.
        """
        try:
            body = await self._objects.get(SECRETS, namespace, name)
        except NotFound:
            return None
        metadata, values = body["metadata"], decoded(body.get("data") or {})
        if (
            body.get("type") in _CLUSTER_TYPES
            or _is_of_controller(metadata, values)
            or self._has_clusters_name(namespace, name, {cluster, *_clusters(metadata)})
        ):
            problem = f"the spec refers to the Secret {name}, which belongs to a cluster"
            raise Halt(Reason.CLUSTER_SECRET_REFERENCED, f"{problem}; refer to a Secret of your own")
        return values

    def _has_clusters_name(self, namespace: str, name: str, clusters: Collection[str]) -> bool:
        prefixes = (name.removesuffix(f"-{suffix}") for suffix in _CLUSTER_SUFFIXES if name.endswith(f"-{suffix}"))
        return any(prefix in clusters or self._clusters.get(namespace, prefix) is not None for prefix in prefixes)

    async def config_map(self, namespace: str, name: str) -> Values | None:
        """Give the values of a ConfigMap as they are now, or None when it is not there."""
        try:
            body = await self._objects.get(CONFIG_MAPS, namespace, name)
        except NotFound:
            return None
        plain = {key: str(value).encode() for key, value in (body.get("data") or {}).items()}
        return {**plain, **decoded(body.get("binaryData") or {})}


def _clusters(metadata: Json) -> Iterator[str]:
    """Give the names of the clusters to which the metadata of a Secret refer."""
    label = (metadata.get("labels") or {}).get(CLUSTER_LABEL)
    if label:
        yield label
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("kind") == CLUSTERS.kind and _group(owner) == CLUSTERS.group:
            yield str(owner.get("name"))


def _is_of_controller(metadata: Json, values: Values) -> bool:
    """Whether a Secret with the keys of a cluster is a controller's own.

    A control plane owns it, of whichever provider: they adopt authorities that people made. Or it is a kubeconfig, and
    something that is no Cluster owns it, as with those of managed and hosted control planes.
    """
    owners = metadata.get("ownerReferences") or ()
    if any(_group(owner) in _CONTROLLERS for owner in owners):
        return True
    has_maker = any((owner.get("kind"), _group(owner)) != (CLUSTERS.kind, CLUSTERS.group) for owner in owners)
    return has_maker and any(_KUBECONFIG.search(value) for value in values.values())


def _group(owner: Json) -> str:
    return str(owner.get("apiVersion", "")).partition("/")[0]


def decoded(data: Mapping[str, str | None]) -> Values:
    """Decode what the API gives in base64."""
    values = {}
    for key, text in data.items():
        try:
            values[key] = base64.b64decode(text or "", validate=True)
        except (binascii.Error, ValueError):
            values[key] = b""
    return values


def _version(item: Json) -> tuple[str, str]:
    return item["metadata"]["uid"], item["metadata"]["resourceVersion"]
