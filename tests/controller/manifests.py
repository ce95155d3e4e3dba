"""The manifests of deploy/kubernetes as plain documents, as far as a controller outside of a pod needs them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.cluster.manifests import localized

Object = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
NAMESPACE = "slipway-system"
WEBHOOK = "MutatingWebhookConfiguration"
ACCOUNT = "slipway-controller"


def documents(*folders: str) -> list[Object]:
    """Give the documents of folders below deploy/kubernetes."""
    return [one for folder in folders for one in _of(ROOT / folder)]


def cluster_part() -> list[Object]:
    """Give what a cluster needs before a controller can run beside it: kinds, namespace, roles."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return [*documents("crd"), namespace, *documents("rbac"), *opt_in_part()]


def opt_in_part() -> list[Object]:
    """Give roles and policies of the opt-in; each test has a webhook of its own."""
    return [document for document in documents("opt-in") if document["kind"] not in {WEBHOOK, "NetworkPolicy"}]


def webhook_name(namespace: str) -> Object:
    """Give kind and name of the configuration of a namespace's webhook."""
    name = f"slipway-opt-in-{namespace}"
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": WEBHOOK, "metadata": {"name": name}}


def webhook(namespace: str, url: str, authority: bytes) -> Object:
    """Give the configuration of the webhook for one namespace only, served at a URL of this machine."""
    given = [document for document in documents("opt-in") if document["kind"] == WEBHOOK]
    (found,) = localized(given, webhooks=url, authority=authority)
    found["metadata"]["name"] = webhook_name(namespace)["metadata"]["name"]
    for one in found["webhooks"]:
        one["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    return found


def _of(folder: Path) -> Iterator[Object]:
    for path in sorted(folder.glob("*.yaml")):
        if path.name != "kustomization.yaml":
            yield from (document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document)
