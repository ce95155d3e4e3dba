"""Every field of a KubeadmConfigSpec, as the models of both API versions have it, each in a config of its own."""

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from slipway.bootstrapper.importers.kubeadm_config import v1beta1, v1beta2

MODELS: dict[str, type[BaseModel]] = {"v1beta1": v1beta1.KubeadmConfigSpec, "v1beta2": v1beta2.KubeadmConfigSpec}

Path = tuple[str | int, ...]
"""Keys and indices; the key of a map is ENTRY."""

ENTRY = "entry-a"

VALUES: dict[str, Any] = {
    "additionalConfig": "passwd: {users: [{name: ann, home_dir: /home/b}]}",
    "advertiseAddress": "10.0.0.5",
    "apiServerEndpoint": "10.0.0.1:6443",
    "bindPort": 7443,
    "caCertHashes": "sha256:" + "a" * 64,
    "caCertPath": "/a/ca.crt",
    "caFile": "/a/ca.crt",
    "certFile": "/a/a.crt",
    "certSANs": "a.example.com",
    "certificateAuthorityData": "YQ==",
    "certificatesDir": "/a/pki",
    "content": "YQ==",
    "contentFormat": "Template",
    "controlPlaneEndpoint": "api.example.com:6443",
    "criSocket": "unix:///run/a.sock",
    "dataDir": "/var/lib/a",
    "device": "/dev/sdb",
    "directory": "/a/patches",
    "dnsDomain": "cluster.local",
    "effect": "NoSchedule",
    "encoding": "base64",
    "endpoints": "https://10.0.0.1:2379",
    "expires": "2030-01-31T12:00:00Z",
    "filesystem": "ext4",
    "format": "cloud-config",
    "groups": "adm,wheel",
    "homeDir": "/home/b",
    "hostPath": "/a",
    "keyFile": "/a/a.key",
    "kubeConfigPath": "/a/config",
    "kubernetesVersion": "v1.34.2",
    "mountPath": "/a",
    "mounts": ["LABEL=a", "/mnt/a"],
    "name": "ann",
    "owner": "ann:staff",
    "partition": "auto",
    "partitionType": "LVM",
    "passwd": "$6$saltsalt$" + "a" * 86,
    "path": "/var/a",
    "percentage": 50,
    "permissions": "0640",
    "peerCertSANs": "a.example.com",
    "podSubnet": "10.0.0.0/16",
    "primaryGroup": "staff",
    "replaceFS": "ext3",
    "server": "https://a.example.com:6443",
    "serverCertSANs": "a.example.com",
    "serviceSubnet": "10.96.0.0/12",
    "shell": "/bin/sh",
    "timeAdded": "2030-01-31T12:00:00Z",
    "timeout": "5m",
    "timeoutForControlPlane": "6m",
    "tlsBootstrapToken": "abcdef.0123456789abcdef",
    "token": "abcdef.0123456789abcdef",
    "ttl": "10m",
    "usages": "signing",
    "verbosity": 3,
}
"""A value of each field that takes not just any."""


def fields(model: type[BaseModel], above: Path = ()) -> Iterator[Path]:
    """Give the path of each field that has a value, of lists and maps one entry."""
    for name, field in model.model_fields.items():
        path = (*above, field.alias or name)
        kind = _plain(field.annotation)
        entry = _entry(kind)
        inner = kind if entry is None else entry
        if entry is not None:
            path = (*path, ENTRY if get_origin(kind) is dict else 0)
        if _is_model(inner):
            yield from fields(inner, path)
        else:
            yield path


def config(version: str, path: Path, form: str) -> dict[str, Any]:
    """Give a KubeadmConfigSpec that says this field, and besides it what must be said with it."""
    tree = _with(MODELS[version], path, ())
    if form == "ignition":
        tree["format"] = form
    for file in tree.get("files", ()):
        if "contentFrom" not in file:
            file.setdefault("content", VALUES["content"])
    for partition in tree.get("diskSetup", {}).get("partitions", ()):
        if "diskLayout" in partition:
            partition.pop("layout", None)
        else:
            partition["layout"] = True
    discovery = tree.get("joinConfiguration", {}).get("discovery", {})
    user = discovery.get("file", {}).get("kubeConfig", {}).get("user")
    if user == {}:
        user["exec"] = {"command": "/a"}
    return tree


def _with(model: type[BaseModel], path: Path, above: Path) -> dict[str, Any]:
    tree = {
        field.alias or name: _sample(field.annotation, (*above, field.alias or name))
        for name, field in model.model_fields.items()
        if field.is_required()
    }
    head, *rest = path
    here = (*above, head)
    kind = _plain(next(field.annotation for name, field in model.model_fields.items() if (field.alias or name) == head))
    entry = _entry(kind)
    inner = kind if entry is None else entry
    below = tuple(rest if entry is None else rest[1:])
    value = _with(inner, below, here) if _is_model(inner) else _sample(inner, here)
    if entry is not None:
        value = {ENTRY: value} if get_origin(kind) is dict else [value]
    tree[str(head)] = value
    return tree


def _sample(annotation: Any, path: Path) -> Any:
    kind = _plain(annotation)
    entry = _entry(kind)
    if _is_model(kind):
        required = {
            field.alias or name: field.annotation for name, field in kind.model_fields.items() if field.is_required()
        }
        return {name: _sample(inner, (*path, name)) for name, inner in required.items()}
    name = str(path[-1])
    if entry is not None and name != "mounts":
        value = _sample(entry, path)
        return {ENTRY: value} if get_origin(kind) is dict else [value]
    if name == "groups" and "bootstrapTokens" in path:
        return "system:bootstrappers:a"
    if name in VALUES:
        return VALUES[name]
    if kind in {bool, int}:
        return kind(30)
    return get_args(kind)[-1] if get_origin(kind) is Literal else "a"


def _plain(annotation: Any) -> Any:
    """Give a type without its annotations, and without None."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in {Union, types.UnionType}:
            annotation = next(kind for kind in get_args(annotation) if kind is not type(None))
        else:
            return annotation


def _entry(kind: Any) -> Any:
    """Give the type of the entries of a list or a map; None for anything else."""
    if get_origin(kind) in {list, dict}:
        return _plain(get_args(kind)[-1])
    return None


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
