"""What is to be done with a config, decided from facts alone: no call, no clock.

The order is that of Cluster API's bootstrap contract: owner, cluster, pause, what is there already, infrastructure,
endpoint, control plane.
"""

from dataclasses import dataclass

from slipway.controller.cluster_object import ClusterObject
from slipway.controller.data_secret import Record, controller_of
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt
from slipway.controller.owner import Owner
from slipway.controller.reasons import Reason
from slipway.v1alpha1 import cluster_pb2 as clusterpb


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing is to be done, now or ever: config or machine go, or the machine uses another Secret or none any more."""


@dataclass(frozen=True, slots=True)
class Paused:
    """The config is paused: nothing but the condition is written."""

    why: str


@dataclass(frozen=True, slots=True)
class Render:
    """User data are to be rendered. `replaces` is the render that they replace, for a pool."""

    role: clusterpb.Role.ValueType
    needs_lock: bool = False
    rotation: int = 0
    replaces: Record | None = None


@dataclass(frozen=True, slots=True)
class Refresh:
    """The Secret exists: the status reports it, and the token is refreshed until the machine has joined.

    Attributes:
        record: what the Secret holds.
        adopt: the Secret's owner reference has to be repaired first (after a restore).
    """

    record: Record
    adopt: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """The config was handed back while its Secret was made: the kubeadm provider may overwrite it.

    Attributes:
        record: what of the Secret says that it is ours.
    """

    record: Record


Decision = Idle | Paused | Render | Refresh | Release


def decide(facts: Facts) -> Decision:
    """Give what is to be done.

    Raises:
        Halt: something has to come first, or a user must change something.
    """
    if facts.config["metadata"].get("deletionTimestamp"):
        return Idle()
    if facts.paused_by:
        return Paused(facts.paused_by)
    if facts.owner is None:
        raise Halt(Reason.WAITING_FOR_OWNER)
    if facts.owner.deleting or facts.owner.data_secret_name not in {"", facts.name}:
        return Idle()
    if facts.cluster is None:
        raise Halt(Reason.WAITING_FOR_CLUSTER, f"the Cluster {facts.owner.cluster_name} does not exist")
    if facts.secret is None and facts.owner.joined and facts.owner.data_secret_name and not facts.owner.is_pool:
        return Idle()
    stored = _stored(facts)
    if stored is not None and not (facts.owner.is_pool and stored.record.generation != facts.generation):
        return stored
    if not facts.is_owned:
        problem = f"{facts.owner.kind} {facts.owner.name} does not refer to this config, or is not the one that owns it"
        raise Halt(Reason.WAITING_FOR_OWNER, problem)
    return _render(facts.owner, facts.cluster, replaces=stored.record if stored is not None else None)


def _render(owner: Owner, cluster: ClusterObject, *, replaces: Record | None) -> Render:
    if not cluster.infrastructure_provisioned:
        raise Halt(Reason.WAITING_FOR_CLUSTER_INFRASTRUCTURE)
    if cluster.endpoint is None:
        raise Halt(Reason.WAITING_FOR_ENDPOINT)
    if not owner.version:
        raise Halt(Reason.VERSION_MISSING, f"the {owner.kind} {owner.name} has no version: spec.version")
    rotation = replaces.rotation if replaces else 0
    if not owner.is_control_plane:
        if not cluster.control_plane_initialized:
            raise Halt(Reason.WAITING_FOR_CONTROL_PLANE)
        return Render(clusterpb.ROLE_WORKER, rotation=rotation, replaces=replaces)
    if cluster.control_plane_initialized:
        return Render(clusterpb.ROLE_CONTROL_PLANE)
    return Render(clusterpb.ROLE_INIT, needs_lock=True)


def _stored(facts: Facts) -> Refresh | None:
    """Give what the Secret of the config's name holds, if it is the config's.

    Raises:
        Halt: it has another owner, or is that of a deleted config of the same name.
    """
    secret = facts.secret
    if secret is None:
        return None
    controller = controller_of(secret)
    record = Record.of_secret(secret)
    if controller is not None and controller.get("uid") == facts.uid:
        if record is None:
            raise Halt(Reason.DATA_SECRET_TAKEN, f"the Secret {facts.name} lost the annotations of Slipway: delete it")
        return Refresh(record)
    own_kind = controller is not None and controller.get("kind") == facts.resource.kind
    if record is None or (controller is not None and not own_kind):
        raise Halt(Reason.DATA_SECRET_TAKEN, f"the Secret {facts.name} exists and has another owner")
    if facts.owner is not None and facts.owner.data_secret_name == facts.name:
        return Refresh(record, adopt=True)
    raise Halt(Reason.WAITING_FOR_PREDECESSOR, after=1.0)
