"""A registration as a Lease: what stands where in the object, and back."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

import structlog
from google.protobuf.message import DecodeError

from slipway.kubernetes_api.resources import LEASES, Json
from slipway.registry.instance import Instance
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

LABEL = "bootstrap.slipway.dev/registry"
MEMORY = "slipway-registry"
"""Name of the Lease whose uid is the registry's epoch: as long as it is there, nothing was forgotten."""

Key = tuple[str, str]
"""Name of a provisioner, and id of its process."""

_PREFIX = "bootstrap.slipway.dev/"
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
_log = structlog.get_logger("slipway.registry")


def key_of(instance: Instance) -> Key:
    """Give by what an instance is found."""
    return instance.name, instance.instance_id


def name_of(key: Key) -> str:
    """Give the name of the Lease of an instance; it begins with the registry's own, as admission wants it."""
    return f"{MEMORY}-{hashlib.sha256('/'.join(key).encode()).hexdigest()[:20]}"


def written(instance: Instance, *, namespace: str, ttl: float) -> Json:
    """Give the Lease of an instance; `ttl` in seconds."""
    annotations = {
        "name": instance.name,
        "instance-id": instance.instance_id,
        "endpoint": instance.endpoint,
        "identity": instance.identity,
        "state": registrypb.InstanceState.Name(instance.state),
        "state-reason": instance.state_reason,
        "lease-id": instance.lease_id,
        "static": "true" if instance.is_static else "false",
        "advertisement": base64.b64encode(instance.info.SerializeToString(deterministic=True)).decode(),
    }
    return {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        "metadata": {
            "name": name_of(key_of(instance)),
            "namespace": namespace,
            "labels": {LABEL: "instance"},
            "annotations": {f"{_PREFIX}{name}": value for name, value in annotations.items()},
        },
        "spec": {
            "holderIdentity": instance.instance_id,
            "leaseDurationSeconds": max(round(ttl), 1),
            "acquireTime": instance.register_time.astimezone(UTC).strftime(_TIME),
            "renewTime": instance.renew_time.astimezone(UTC).strftime(_TIME),
        },
    }


def read(lease: Json, *, expires: float) -> Instance | None:
    """Give the instance of a Lease; None for one that was changed by hand and is broken.

    Args:
        lease: the object.
        expires: monotonic time at which it ends, unless the instance is static.
    """
    annotations = lease["metadata"].get("annotations") or {}
    own = {key.removeprefix(_PREFIX): value for key, value in annotations.items()}
    try:
        return Instance(
            name=own["name"],
            instance_id=own["instance-id"],
            endpoint=own["endpoint"],
            info=_advertisement(own),
            state=registrypb.InstanceState.Value(own["state"]),
            state_reason=own["state-reason"],
            identity=own["identity"],
            register_time=_moment(lease["spec"]["acquireTime"]),
            renew_time=_moment(lease["spec"]["renewTime"]),
            lease_id=own["lease-id"],
            expires=None if own["static"] == "true" else expires,
        )
    except (KeyError, ValueError, binascii.Error, DecodeError):
        _log.warning("unreadable lease skipped", lease=lease["metadata"]["name"])
        return None


def renewal(lease: Json) -> str:
    """Give when a Lease was renewed, as it stands there."""
    return str((lease.get("spec") or {}).get("renewTime"))


def _advertisement(own: Mapping[str, str]) -> provisionerpb.GetProvisionerInfoResponse:
    info = provisionerpb.GetProvisionerInfoResponse.FromString(base64.b64decode(own["advertisement"], validate=True))
    if info.name != own["name"]:
        raise ValueError("the advertisement is another provisioner's")
    return info


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
