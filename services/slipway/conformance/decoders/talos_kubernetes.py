"""The control plane in a Talos machine configuration: components, etcd, add-ons, images, static pods."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

_COMPONENTS = {"apiServer": "api_server", "controllerManager": "controller_manager", "scheduler": "scheduler"}
_ROTATION = {
    "audit-log-maxage": "max_age_days",
    "audit-log-maxbackup": "max_backups",
    "audit-log-maxsize": "max_size_mib",
}
_WEBHOOK = "authentication-token-webhook"
_PUBLIC_DNS = "registry.k8s.io/coredns"


def kubernetes(machine: Mapping[str, Any], cluster: Mapping[str, Any]) -> kubernetespb.Kubernetes:
    """Give what a configuration says of Kubernetes beyond the node itself.

    Raises:
        KeyError: something that every control plane has is not there.
    """
    made = kubernetespb.Kubernetes()
    for pod in machine.get("pods") or []:
        made.static_pods.add(name=pod["metadata"]["name"]).manifest.data = yaml.safe_dump(pod).encode()
    if machine["type"] == "worker":
        return made
    plane = made.control_plane
    files = {one["path"]: one["content"].encode() for one in machine.get("files") or []}
    for key, name in _COMPONENTS.items():
        section = cluster[key]
        _component(getattr(plane, name), section)
        for path, argument in _mounted(section, files):
            file = plane.files.add(component=name.replace("_", "-"), argument=argument)
            file.content.data = files[path]
    server = cluster["apiServer"]
    host = cluster["controlPlane"]["endpoint"].partition("//")[2].rpartition(":")[0].strip("[]")
    plane.api_server_sans.extend(name for name in server.get("certSANs") or [] if name != host)
    plane.bind_port = cluster["controlPlane"].get("localAPIServerPort") or 6443
    _audit(plane.audit, server)
    _webhook(plane.authentication_webhook, server, files)
    _addon(plane.dns, cluster.get("coreDNS") or {})
    _addon(plane.kube_proxy, cluster.get("proxy") or {})
    _etcd(made.etcd.local, cluster["etcd"])
    made.images.repository = _repository(cluster[key]["image"] for key in _COMPONENTS)
    return made


def _component(made: kubernetespb.Component, section: Mapping[str, Any]) -> None:
    for name, value in (section.get("extraArgs") or {}).items():
        for one in value if isinstance(value, list) else [value]:
            made.arguments.add(name=name, value=str(one))
    for volume in section.get("extraVolumes") or []:
        made.volumes.add(
            host_path=volume["hostPath"], mount_path=volume["mountPath"], read_only=bool(volume.get("readonly"))
        )
    for name, value in (section.get("env") or {}).items():
        made.environment.add(name=name, value=str(value))


def _mounted(section: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Give the files of the machine that an argument names and a volume shows to the component."""
    folders = [one["mountPath"] for one in section.get("extraVolumes") or [] if one["hostPath"] == one["mountPath"]]
    for name, value in (section.get("extraArgs") or {}).items():
        if value in files and any(value.startswith(f"{folder}/") for folder in folders):
            yield value, name


def _audit(made: kubernetespb.Audit, server: Mapping[str, Any]) -> None:
    if server.get("auditPolicy"):
        made.policy.data = yaml.safe_dump(server["auditPolicy"]).encode()
    for argument, name in _ROTATION.items():
        if argument in (server.get("extraArgs") or {}):
            setattr(made, name, int(server["extraArgs"][argument]))


def _webhook(made: kubernetespb.AuthenticationWebhook, server: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    arguments = server.get("extraArgs") or {}
    shown = dict(_mounted(server, files))
    path = arguments.get(f"{_WEBHOOK}-config-file", "")
    if path in shown:
        made.kubeconfig.data = files[path]
    if f"{_WEBHOOK}-cache-ttl" in arguments:
        made.cache_ttl.FromJsonString(arguments[f"{_WEBHOOK}-cache-ttl"])
    if f"{_WEBHOOK}-version" in arguments:
        made.version = arguments[f"{_WEBHOOK}-version"]


def _addon(made: kubernetespb.Addon, section: Mapping[str, Any]) -> None:
    made.disabled = bool(section.get("disabled"))
    made.image_repository, made.image_tag = _image(section.get("image") or "")
    # The image of CoreDNS has a folder of its own in the public registry only. Source: kubeadm v1.34, GetDNSImage.
    if made.image_repository == _PUBLIC_DNS:
        made.image_repository = _PUBLIC_DNS.rpartition("/")[0]


def _etcd(made: kubernetespb.LocalEtcd, section: Mapping[str, Any]) -> None:
    made.image_repository, made.image_tag = _image(section.get("image") or "")
    for name, value in (section.get("extraArgs") or {}).items():
        made.arguments.add(name=name, value=str(value))


def _image(name: str) -> tuple[str, str]:
    image, _, tag = name.rpartition(":")
    return image.rpartition("/")[0], tag


def _repository(images: Iterator[str]) -> str:
    found = {_image(one)[0] for one in images}
    return found.pop() if len(found) == 1 else ""
