"""What a document of a kind cannot do without, beyond its types: the program that reads it ends, or ignores it.

Sources: validation of k8s.io/apiserver (audit, encryption, authentication and authorization), client-go's loader of
kubeconfigs, and the kubelet's validation of static pods (k8s.io/kubernetes, pkg/apis/core/validation).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slipway.bootstrapper.kubernetes_documents.strict_decoding import Mistake
from slipway.contract.source_position import FieldPath

_LEVELS = ("None", "Metadata", "Request", "RequestResponse")


def missing(tree: Mapping[str, Any], kind: str) -> Iterator[Mistake]:
    """Give what a document lacks; its types are right."""
    rule = _RULES.get(kind)
    if rule is not None:
        yield from rule(tree)


def _policy(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for path, rule in _entries(tree, ("rules",)):
        if rule.get("level") not in _LEVELS:
            yield Mistake((*path, "level"), f"must be one of {', '.join(_LEVELS)}")
    yield from _not_empty(tree, ("rules",))


def _encryption(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    yield from _not_empty(tree, ("resources",))
    for path, entry in _entries(tree, ("resources",)):
        yield from _not_empty(entry, (*path, "resources"))
        yield from _not_empty(entry, (*path, "providers"))
        for place, provider in _entries(entry, (*path, "providers")):
            if sum(value is not None for value in provider.values()) != 1:
                yield Mistake(place, "must have exactly one provider, such as secretbox, aescbc, kms or identity")


def _authentication(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for path, entry in _entries(tree, ("jwt",)):
        issuer = entry.get("issuer") or {}
        yield from _not_empty(issuer, (*path, "issuer", "url"))
        yield from _not_empty(issuer, (*path, "issuer", "audiences"))


def _authorization(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    yield from _not_empty(tree, ("authorizers",))
    for path, entry in _entries(tree, ("authorizers",)):
        yield from _not_empty(entry, (*path, "type"))
        yield from _not_empty(entry, (*path, "name"))


def _admission(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for path, entry in _entries(tree, ("plugins",)):
        yield from _not_empty(entry, (*path, "name"))


def _kubeconfig(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    yield from _not_empty(tree, ("clusters",))
    for path, entry in _entries(tree, ("clusters",)):
        yield from _not_empty(entry.get("cluster") or {}, (*path, "cluster", "server"))


def _pod(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    yield from _not_empty(tree.get("metadata") or {}, ("metadata", "name"))
    spec = tree.get("spec") or {}
    yield from _not_empty(spec, ("spec", "containers"))
    for name in ("containers", "initContainers"):
        for path, entry in _entries(spec, ("spec", name)):
            yield from _not_empty(entry, (*path, "name"))
            yield from _not_empty(entry, (*path, "image"))


def _entries(tree: Mapping[str, Any], path: FieldPath) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    for index, entry in enumerate(tree.get(str(path[-1])) or ()):
        yield (*path, index), entry or {}


def _not_empty(tree: Mapping[str, Any], path: FieldPath) -> Iterator[Mistake]:
    if not tree.get(str(path[-1])):
        yield Mistake(path, "is required")


_RULES: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Mistake]]] = {
    "AdmissionConfiguration": _admission,
    "AuthenticationConfiguration": _authentication,
    "AuthorizationConfiguration": _authorization,
    "Config": _kubeconfig,
    "EncryptionConfiguration": _encryption,
    "Pod": _pod,
    "Policy": _policy,
}
