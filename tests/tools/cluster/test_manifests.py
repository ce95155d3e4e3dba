"""Published manifests on loopback: what needs pods goes, webhooks get an address, everything else stays as it is."""

import base64
import copy

import pytest

from tools.cluster import manifests

SERVICE = {"service": {"name": "webhook-service", "namespace": "capi-system", "path": "/judge"}}
LOCAL = {"url": "https://127.1.2.3:19443/judge", "caBundle": base64.b64encode(b"PEM").decode()}


def localized(*documents: dict) -> list[dict]:
    """The documents as they would be applied."""
    return manifests.localized(documents, webhooks="https://127.1.2.3:19443", authority=b"PEM")


def definition(**spec: object) -> dict:
    """A definition of a kind with these fields."""
    return {"kind": "CustomResourceDefinition", "metadata": {"name": "things"}, "spec": spec}


@pytest.mark.parametrize("kind", ["Deployment", "Service", "Certificate", "Issuer"])
def test_what_needs_pods_is_left_out(kind: str) -> None:
    """Nothing would ever run it."""
    assert localized({"kind": kind, "metadata": {"name": "x"}}) == []


def test_webhooks_are_reached_at_the_address() -> None:
    """Admission webhooks and the conversion webhook, each with the authority that signed for it."""
    configuration = {
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "x", "annotations": {"cert-manager.io/inject-ca-from": "y"}},
        "webhooks": [{"name": "z", "clientConfig": copy.deepcopy(SERVICE)}],
    }
    converted = definition(versions=[], conversion={"webhook": {"clientConfig": copy.deepcopy(SERVICE)}})
    first, second = localized(configuration, converted)
    assert first["spec"]["conversion"]["webhook"]["clientConfig"] == LOCAL
    assert second["webhooks"] == [{"name": "z", "clientConfig": LOCAL}]
    assert second["metadata"]["annotations"] == {}
    assert configuration["webhooks"][0]["clientConfig"] == SERVICE


def test_versions_that_nobody_serves_are_left_out() -> None:
    """The API server would have them converted, by a webhook that does not know them any more."""
    versions = [
        {"name": "v1alpha4", "served": False, "storage": False},
        {"name": "v1beta1", "served": True, "storage": False},
        {"name": "v1beta2", "served": True, "storage": True},
    ]
    (made,) = localized(definition(versions=versions))
    assert [version["name"] for version in made["spec"]["versions"]] == ["v1beta1", "v1beta2"]


def test_the_order_can_be_applied() -> None:
    """Namespaces, definitions, roles, what refers to them, and webhooks last: they would judge all the others."""
    kinds = [
        "MutatingWebhookConfiguration",
        "ClusterRoleBinding",
        "ClusterRole",
        "CustomResourceDefinition",
        "Namespace",
    ]
    documents = [{"kind": kind, "metadata": {"name": "x"}, "spec": {"versions": []}, "webhooks": []} for kind in kinds]
    assert [one["kind"] for one in localized(*documents)] == list(reversed(kinds))
