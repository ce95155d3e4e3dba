"""Values of a document that are of the right type, and with which the API server does not start all the same.

Sources: ValidateEncryptionConfiguration and ValidatePolicy of k8s.io/apiserver, ValidatePodSecurityConfiguration of
k8s.io/pod-security-admission, ConfirmUsable of client-go's clientcmd; 1.30 and 1.34 agree on what is here.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slipway.bootstrapper.kubernetes_documents.values import mismatch
from slipway.contract.source_position import FieldPath
from slipway.contract.strict_decoding import Mistake

_STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")
_KEY_BYTES: Mapping[str, tuple[int, ...]] = {"aescbc": (16, 24, 32), "aesgcm": (16, 24, 32), "secretbox": (32,)}
_KMS_VERSIONS = ("v1", "v2")
_POD_LEVELS = ("privileged", "baseline", "restricted")
_POD_VERSION = re.compile(r"latest|v1\.(?:0|[1-9][0-9]*)")
_POD_SECURITY = "PodSecurityConfiguration"


def wrong_values(tree: Mapping[str, Any], kind: str) -> Iterator[Mistake]:
    """Give the values that the API server does not take in a document; its types are right."""
    rule = _RULES.get(kind)
    if rule is not None:
        yield from rule(tree)


def _policy(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    yield from _stages(tree, ())
    for path, rule in _entries(tree, ("rules",)):
        yield from _stages(rule, path)


def _stages(tree: Mapping[str, Any], path: FieldPath) -> Iterator[Mistake]:
    for index, stage in enumerate(tree.get("omitStages") or ()):
        if stage not in _STAGES:
            yield Mistake((*path, "omitStages", index), f"must be one of {', '.join(_STAGES)}")


def _encryption(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    names: set[str] = set()
    for path, entry in _entries(tree, ("resources",)):
        for place, provider in _entries(entry, (*path, "providers")):
            for name, sizes in _KEY_BYTES.items():
                if provider.get(name) is not None:
                    yield from _keys(provider[name], (*place, name), sizes)
            if provider.get("kms") is not None:
                yield from _kms(provider["kms"], (*place, "kms"), names)


def _keys(provider: Mapping[str, Any], path: FieldPath, sizes: tuple[int, ...]) -> Iterator[Mistake]:
    if not provider.get("keys"):
        yield Mistake((*path, "keys"), "is required")
    for place, key in _entries(provider, (*path, "keys")):
        if not key.get("name"):
            yield Mistake((*place, "name"), "is required")
        secret = key.get("secret") or ""
        if not secret:
            yield Mistake((*place, "secret"), "is required")
        elif mismatch(secret, "bytes"):
            yield Mistake((*place, "secret"), "must be base64")
        elif len(b64decode(secret)) not in sizes:
            yield Mistake((*place, "secret"), f"must be a key of {' or '.join(map(str, sizes))} bytes in base64")


def _kms(kms: Mapping[str, Any], path: FieldPath, names: set[str]) -> Iterator[Mistake]:
    name, version = kms.get("name") or "", kms.get("apiVersion") or "v1"
    if version not in _KMS_VERSIONS:
        yield Mistake((*path, "apiVersion"), f"must be {' or '.join(_KMS_VERSIONS)}")
    if not name:
        yield Mistake((*path, "name"), "is required")
    elif version != "v1" and (":" in name or name in names):
        yield Mistake((*path, "name"), "must have no colon, and no other KMS provider may have it")
    names.add(name)
    if not re.match(r"unix:", kms.get("endpoint") or "", re.IGNORECASE):
        yield Mistake((*path, "endpoint"), "must be the URL of a socket such as unix:///run/kms.sock")
    cache = kms.get("cachesize")
    if version == "v1" and cache == 0:
        yield Mistake((*path, "cachesize"), "must be positive, or negative for none")
    elif version != "v1" and cache is not None:
        yield Mistake((*path, "cachesize"), "has no meaning for v2: leave it out")


def _kubeconfig(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    current = tree.get("current-context") or ""
    if not current:
        return
    clusters, users = ({entry.get("name") for _, entry in _entries(tree, (name,))} for name in ("clusters", "users"))
    # The last of one name counts.
    context = {entry.get("name"): (path, entry.get("context") or {}) for path, entry in _entries(tree, ("contexts",))}
    if current not in context:
        if "" not in clusters:  # Which kubeadm takes before any context.
            yield Mistake(("current-context",), "names a context that the document does not have")
        return
    path, names = context[current]
    if (names.get("cluster") or "") not in clusters:
        yield Mistake((*path, "context", "cluster"), "names a cluster that the document does not have")
    if names.get("user") and names["user"] not in users:
        message = "names a user that the document does not have: requests would have no credentials"
        yield Mistake((*path, "context", "user"), message, certain=False)


def _admission(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for path, entry in _entries(tree, ("plugins",)):
        document = entry.get("configuration")
        if not isinstance(document, dict) or document.get("kind") != _POD_SECURITY:
            continue
        defaults = document.get("defaults")
        if not isinstance(defaults, dict | None):
            yield Mistake((*path, "configuration", "defaults"), "must be a mapping")
            continue
        for name, value in (defaults or {}).items():
            if name in {"enforce", "audit", "warn"} and (value or "privileged") not in _POD_LEVELS:
                message = f"must be one of {', '.join(_POD_LEVELS)}"
            elif name in {"enforce-version", "audit-version", "warn-version"} and not _is_pod_version(value):
                message = "must be latest, or a version such as v1.34"
            else:
                continue
            yield Mistake((*path, "configuration", "defaults", name), message)


def _is_pod_version(value: Any) -> bool:
    return not value or (isinstance(value, str) and _POD_VERSION.fullmatch(value) is not None)


def _entries(tree: Mapping[str, Any], path: FieldPath) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    for index, entry in enumerate(tree.get(str(path[-1])) or ()):
        yield (*path, index), entry or {}


_RULES: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Mistake]]] = {
    "AdmissionConfiguration": _admission,
    "Config": _kubeconfig,
    "EncryptionConfiguration": _encryption,
    "Policy": _policy,
}
