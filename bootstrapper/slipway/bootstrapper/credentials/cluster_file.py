"""The file in which a directory store keeps one cluster's secrets, and the folder that it stands in.

One file for all of them, because a file can be replaced in one step: a reader sees either the old secrets
or the new.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable

from google.protobuf.timestamp_pb2 import Timestamp

from slipway.bootstrapper.credentials.store import ClusterKey, sorted_secrets
from slipway.v1alpha1 import secret_pb2 as secretpb

_VERSION = 1
_DNS_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_LONGEST_FOLDER = 240


class UnreadableClusterFile(ValueError):  # noqa: N818  # state and subject; it is a ValueError
    """The file is not one that this store wrote, or is of another cluster.

    The message holds nothing of it.
    """


def folder_name(cluster: ClusterKey) -> str:
    """Give a folder name that is safe on every file system and different for every cluster.

    Names that Kubernetes accepts stay readable; any other becomes a hash, marked by a character they cannot
    have.
    """
    names = [name for name in (cluster.namespace, cluster.name) if name]
    folder = "_".join(names)
    if len(folder) <= _LONGEST_FOLDER and cluster.name and all(_DNS_NAME.fullmatch(name) for name in names):
        return folder
    digest = hashlib.sha256(json.dumps([cluster.namespace, cluster.name]).encode()).hexdigest()
    return f"_{digest}"


def encode(cluster: ClusterKey, secrets: Iterable[secretpb.Secret]) -> bytes:
    """Encode a cluster's secrets."""
    entries = [
        {
            "name": secret.name,
            "key": secret.key,
            "kind": secretpb.SecretKind.Name(secret.kind),
            "value": base64.b64encode(secret.value).decode(),
            **({"expireTime": secret.expire_time.ToJsonString()} if secret.HasField("expire_time") else {}),
        }
        for secret in sorted_secrets(secrets)
    ]
    document = {
        "version": _VERSION,
        "cluster": {"namespace": cluster.namespace, "name": cluster.name},
        "secrets": entries,
    }
    return json.dumps(document, indent=1).encode() + b"\n"


def decode(cluster: ClusterKey, data: bytes) -> list[secretpb.Secret]:
    """Decode what `encode` wrote for the same cluster.

    Raises:
        UnreadableClusterFile: it did not.
    """
    try:
        document = json.loads(data)
        if document["version"] != _VERSION:
            raise UnreadableClusterFile("it was written by another version of Slipway")
        if document["cluster"] != {"namespace": cluster.namespace, "name": cluster.name}:
            raise UnreadableClusterFile("it belongs to another cluster")
        return [_secret(entry) for entry in document["secrets"]]
    except (KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError, binascii.Error):
        pass
    raise UnreadableClusterFile("it is damaged")


def _secret(entry: dict[str, str]) -> secretpb.Secret:
    try:
        kind = secretpb.SecretKind.Value(entry["kind"])
        secret = secretpb.Secret(
            name=entry["name"],
            key=entry["key"],
            kind=kind,
            value=base64.b64decode(entry["value"], validate=True),
        )
        if "expireTime" in entry:
            moment = Timestamp()
            moment.FromJsonString(entry["expireTime"])
            secret.expire_time.CopyFrom(moment)
    except ValueError:
        raise UnreadableClusterFile("it is damaged") from None
    return secret
