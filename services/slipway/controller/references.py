"""What specs refer to in Secrets and ConfigMaps of their namespace, the values, and which configs wait for them."""

from collections.abc import Iterable, Mapping
from functools import partial

from slipway.bootstrapper.assembly.config_maps import contents_by_config_map, fill
from slipway.bootstrapper.assembly.membership import membership_secrets
from slipway.bootstrapper.credentials.cluster_secrets import ETCD_CA, ETCD_CLIENT
from slipway.contract.secret_references import references
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.cluster_store import secret_name
from slipway.controller.halt import Halt
from slipway.controller.reasons import Reason
from slipway.controller.referenced_values import Key, referenced_values
from slipway.controller.secret_reader import SecretReader
from slipway.controller.work_budget import Share
from slipway.kubernetes_api.informer import Key as ConfigKey
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

Place = tuple[str, str]
"""Kind and name of an object that a spec refers to."""


def places(spec: specpb.MachineBootstrapSpec) -> frozenset[Place]:
    """Give the Secrets and ConfigMaps that a spec refers to."""
    secrets = {("Secret", secret.name) for _, secret in references(spec) if "/" not in secret.name}
    maps = {("ConfigMap", content.config_map_ref.name) for _, content in contents_by_config_map(spec)}
    return frozenset(secrets | maps)


async def resolve(
    spec: specpb.MachineBootstrapSpec,
    reader: SecretReader,
    cluster: ClusterObject,
    *,
    role: clusterpb.Role.ValueType,
    share: Share,
) -> secretpb.SecretMaterial:
    """Fill in what the spec takes from ConfigMaps, and give the secrets that it refers to.

    Raises:
        Halt: something is not there; the message names all of it.
        BundleTooLarge: it is more than a machine can have.
        BudgetExceeded: it does not fit beside what other configs refer to.
    """
    missing: list[str] = []
    accounts: list[str] = []
    await _fill_maps(spec, reader, cluster.namespace, missing, share)
    material = secretpb.SecretMaterial()
    wanted = [(path, (secret.name, secret.key)) for path, secret in references(spec, "spec") if "/" not in secret.name]
    values = await secret_values(wanted, reader, cluster, share=share)
    own = membership_secrets(spec)
    for name, key in sorted({key for _, key in wanted}):
        value = values.get((name, key))
        if value is None:
            (accounts if name in own else missing).append(f"key {key} of Secret {name}")
        else:
            material.secrets.append(secretpb.Secret(name=name, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=value))
    if missing:
        raise Halt(Reason.WAITING_FOR_SECRET, f"the spec refers to {', '.join(missing + accounts)}: not there")
    if accounts:
        raise Halt(Reason.WAITING_FOR_DIRECTORY_ACCOUNT, f"{', '.join(accounts)} does not exist")
    if spec.kubernetes.etcd.HasField("external") and role != clusterpb.ROLE_WORKER:
        material.secrets.extend(await external_etcd(reader, cluster))
    return material


async def _fill_maps(
    spec: specpb.MachineBootstrapSpec, reader: SecretReader, namespace: str, missing: list[str], share: Share
) -> None:
    wanted = [
        (path, (content.config_map_ref.name, content.config_map_ref.key))
        for path, content in contents_by_config_map(spec, "spec")
    ]
    values = await referenced_values(wanted, partial(reader.config_map, namespace), kind="ConfigMap", share=share)
    missing += [f"key {key} of ConfigMap {name}" for name, key in sorted({key for _, key in wanted} - values.keys())]
    fill(spec, values)


async def secret_values(
    wanted: Iterable[tuple[str, Key]], reader: SecretReader, cluster: ClusterObject, *, share: Share
) -> Mapping[Key, bytes]:
    """Return the values of a user's Secrets in the namespace of a cluster, as far as they exist.

    Raises:
        Halt: one belongs to a cluster.
        BundleTooLarge: they are more than a machine can have.
        BudgetExceeded: they do not fit beside what other configs refer to.
    """
    read = partial(reader.secret, cluster.namespace, cluster=cluster.name)
    return await referenced_values(wanted, read, kind="Secret", share=share)


async def external_etcd(reader: SecretReader, cluster: ClusterObject) -> Iterable[secretpb.Secret]:
    """Give the secrets of an etcd that runs elsewhere: a person makes them, by Cluster API's names.

    Raises:
        Halt: something is not there; the message names all of it.
    """
    secrets: list[secretpb.Secret] = []
    missing = []
    for name, keys in ((ETCD_CA, ("tls.crt",)), (ETCD_CLIENT, ("tls.crt", "tls.key"))):
        values = await reader.shared(cluster.namespace, secret_name(cluster.name, name)) or {}
        for key in keys:
            if not values.get(key):
                missing.append(f"key {key} of Secret {secret_name(cluster.name, name)}")
            secrets.append(secretpb.Secret(name=name, key=key, value=values.get(key, b"")))
    if missing:
        raise Halt(Reason.WAITING_FOR_CERTIFICATES, f"external etcd needs {', '.join(missing)}: not there")
    return secrets


class Dependents:
    """The configs that refer to a Secret or ConfigMap of their namespace."""

    def __init__(self) -> None:
        """Know no config yet."""
        self._configs: dict[tuple[str, Place], set[ConfigKey]] = {}
        self._places: dict[ConfigKey, frozenset[Place]] = {}

    def update(self, config: ConfigKey, places: frozenset[Place]) -> None:
        """Remember what the spec of a config refers to."""
        self._discard(config, self._places.get(config, frozenset()) - places)
        for place in places:
            self._configs.setdefault((config[0], place), set()).add(config)
        self._places[config] = places

    def forget(self, config: ConfigKey) -> None:
        """Forget a config that is gone."""
        self._discard(config, self._places.pop(config, frozenset()))

    def on(self, namespace: str, place: Place) -> list[ConfigKey]:
        """Give the configs that refer to a place."""
        return list(self._configs.get((namespace, place), ()))

    def _discard(self, config: ConfigKey, places: Iterable[Place]) -> None:
        for place in places:
            self._configs.get((config[0], place), set()).discard(config)
