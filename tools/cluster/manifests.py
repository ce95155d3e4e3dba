"""Cluster API's own manifests, made fit for an API server that runs no pods.

Definitions, roles and webhook configurations stay what they are; Deployments, Services and cert-manager's objects go,
and a webhook that was reached through a Service is reached at a loopback address instead.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterable, Sequence
from typing import Any

Object = dict[str, Any]

_NEEDS_PODS = frozenset({"Deployment", "Service", "Certificate", "Issuer"})
_INJECTION = "cert-manager.io/inject-ca-from"
_ORDER = {"Namespace": 0, "CustomResourceDefinition": 1, "ClusterRole": 2, "Role": 2}
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def localized(documents: Iterable[Object], *, webhooks: str, authority: bytes) -> list[Object]:
    """The documents for an API server on loopback, in the order in which they can be applied.

    Args:
        documents: of one provider.
        webhooks: URL without a path at which its webhooks are served.
        authority: certificate of who signed for that URL, PEM.
    """
    kept = [_localized(document, webhooks, authority) for document in documents if document["kind"] not in _NEEDS_PODS]
    return sorted(kept, key=lambda entry: 4 if entry["kind"] in _WEBHOOKS else _ORDER.get(entry["kind"], 3))


def definitions(documents: Sequence[Object]) -> list[Object]:
    """Those documents that define a kind."""
    return [document for document in documents if document["kind"] == "CustomResourceDefinition"]


def _localized(document: Object, webhooks: str, authority: bytes) -> Object:
    made = copy.deepcopy(document)
    made["metadata"].get("annotations", {}).pop(_INJECTION, None)
    if made["kind"] == "CustomResourceDefinition":
        # The API server would ask the conversion webhook for versions that nobody serves, and it does not know them.
        spec = made["spec"]
        spec["versions"] = [version for version in spec["versions"] if version["served"] or version["storage"]]
        if "webhook" in spec.get("conversion", {}):
            _redirect(spec["conversion"]["webhook"]["clientConfig"], webhooks, authority)
    if made["kind"] in _WEBHOOKS:
        for webhook in made["webhooks"]:
            _redirect(webhook["clientConfig"], webhooks, authority)
    return made


def _redirect(config: Object, webhooks: str, authority: bytes) -> None:
    config["url"] = webhooks + config.pop("service")["path"]
    config["caBundle"] = base64.b64encode(authority).decode()
