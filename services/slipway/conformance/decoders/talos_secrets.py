"""The secrets in a Talos machine configuration, and in the operator's talosconfig beside it."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb

_OWN = "talos.slipway.dev/"
_PAIRS = {"ca": "cluster_ca", "aggregatorCA": "front_proxy_ca", "serviceAccount": "service_account"}
_TEXTS = {
    "token": ("cluster-token", "token"), "id": ("cluster-id", "value"), "secret": ("cluster-secret", "value"),
    "secretboxEncryptionSecret": ("secretbox", "value"),
}  # fmt: skip
_EDWARDS = b" ED25519 PRIVATE KEY"


def held(
    machine: Mapping[str, Any], cluster: Mapping[str, Any], attachments: Mapping[str, bytes]
) -> Iterator[statepb.HeldSecret]:
    """Give all secrets, those that only Talos knows by the names that its provisioner declares.

    Raises:
        ValueError: one of them is not in base64.
    """
    yield from _pair(f"{_OWN}machine-ca", machine.get("ca"))
    yield from _text(f"{_OWN}machine-token", "token", machine.get("token"))
    for key, (name, part) in _TEXTS.items():
        yield from _text(_OWN + name, part, cluster.get(key))
    for key, name in _PAIRS.items():
        yield from _pair(name, cluster.get(key))
    yield from _pair("etcd_ca", (cluster.get("etcd") or {}).get("ca"))
    for context in ((yaml.safe_load(attachments.get("talosconfig", b"")) or {}).get("contexts") or {}).values():
        yield from _pair(f"{_OWN}admin", context)


def _text(name: str, key: str, value: str | None) -> Iterator[statepb.HeldSecret]:
    if value:
        yield statepb.HeldSecret(name=name, key=key, value=value.encode())


def _pair(name: str, section: Mapping[str, Any] | None) -> Iterator[statepb.HeldSecret]:
    for part in ("crt", "key"):
        if section and section.get(part):
            pem = base64.b64decode(section[part], validate=True).replace(_EDWARDS, b" PRIVATE KEY")
            yield statepb.HeldSecret(name=name, key=f"tls.{part}", value=pem)
