"""Bringing many documents into an API server in an order in which they can work, as ``kubectl apply`` does not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tools.cluster import manifests
from tools.cluster.client import Client, Object
from tools.cluster.failures import Refused

# A kind that was just defined is not found, or not served, for a second or two; a webhook may not listen yet.
_CONFLICT = 409
_AT_ONCE = 4
_SOON = frozenset({404, 429, 500, 503})
_PATIENCE = 15.0
_PAUSE = 0.1


def apply(client: Client, documents: Sequence[Object]) -> None:
    """Apply documents: definitions first, the others once the kinds can be used.

    Raises:
        EngineTimeout: a definition was not established.
        Refused: the API server did not take a document, nor did it some seconds later where that could have helped.
    """
    defined = manifests.definitions(documents)
    with ThreadPoolExecutor(_AT_ONCE) as several:
        list(several.map(lambda entry: _create(client, entry), defined))
    for entry in defined:
        client.until(entry["apiVersion"], entry["kind"], entry["metadata"]["name"], _established)
    for document in documents:
        if document["kind"] != "CustomResourceDefinition":
            _patiently(client, document)


def _create(client: Client, document: Object) -> None:
    """Create it, which costs the API server a third of applying it, or apply it where there is one."""
    try:
        client.create(document)
    except Refused as refused:
        if refused.status != _CONFLICT:
            raise
        client.apply(document)


def _patiently(client: Client, document: Object) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            client.apply(document)
        except Refused as refused:
            if refused.status not in _SOON or time.monotonic() > end:
                raise
            time.sleep(_PAUSE)
        else:
            return


def wait_aggregated(client: Client, documents: Sequence[Object]) -> None:
    """Wait until those roles among the documents that are the sum of others have their rules.

    Raises:
        EngineTimeout: one got none; is kube-controller-manager running?
    """
    for document in documents:
        if document["kind"] == "ClusterRole" and "aggregationRule" in document:
            client.until(
                document["apiVersion"], document["kind"], document["metadata"]["name"], lambda role: role.get("rules")
            )


def _established(definition: Object) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)
