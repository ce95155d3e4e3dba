"""The two objects that the service writes for a Machine: its Secret, and what is in the way of it.

Both belong to the Machine, so they go with it, and are moved with it. The Secret is immutable: it holds what one
machine uses once. A ConfigMap reports the reason to the controller in an annotation, which the controller follows
anyway.
"""

import base64
from collections.abc import Mapping

from slipway.controller.cluster_object import CLUSTER_LABEL
from slipway.controller.owner import MACHINE
from slipway.directory.secret_file import BLOB, COMPUTER_NAME, DOMAIN, PASSWORD
from slipway.directory_service.orders import Order
from slipway.kubernetes_api.resources import MACHINES, Json

KEYS = frozenset({COMPUTER_NAME, DOMAIN, PASSWORD, BLOB})


def secret_of(order: Order, values: Mapping[str, bytes]) -> Json:
    """Return the Secret of a Machine's account."""
    data = {key: base64.b64encode(value).decode() for key, value in values.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(order),
        "type": "Opaque",
        "immutable": True,
        "data": data,
    }


def report_of(order: Order, annotation: str, reason: str) -> Json:
    """Return the ConfigMap with the reason why a Machine has no account yet."""
    metadata = {**_metadata(order), "annotations": {annotation: reason}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def _metadata(order: Order) -> Json:
    owner = {"apiVersion": MACHINES.api_version, "kind": MACHINE, "name": order.machine, "uid": order.uid}
    labels = {CLUSTER_LABEL: order.cluster}
    return {"name": order.secret, "namespace": order.namespace, "labels": labels, "ownerReferences": [owner]}
