"""Talos machine configuration: one document of v1alpha1 and, in newer versions, documents of a kind each."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import yaml

from slipway.conformance.decoders.sight import UnreadableError, known, other, sees, unread
from slipway.conformance.decoders.talos_kubernetes import kubernetes
from slipway.conformance.decoders.talos_secrets import held
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb

_SEES = "talos"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ROLES = {"worker": clusterpb.ROLE_WORKER, "controlplane": clusterpb.ROLE_CONTROL_PLANE}
_USUAL_TAINT = "node-role.kubernetes.io/control-plane"
_EFFECTS = {
    "NoSchedule": kubernetespb.TAINT_EFFECT_NO_SCHEDULE,
    "PreferNoSchedule": kubernetespb.TAINT_EFFECT_PREFER_NO_SCHEDULE,
    "NoExecute": kubernetespb.TAINT_EFFECT_NO_EXECUTE,
}
_KUBELET = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
_DOCKER = {"registry-1.docker.io": "docker.io"}


def decode(user_data: bytes, attachments: Mapping[str, bytes]) -> statepb.MachineState:
    """Give what a machine configuration says, and of Talos itself what no configuration can change.

    Raises:
        UnreadableError: it is none.
    """
    try:
        documents = list(yaml.load_all(user_data, Loader=_LOADER))
        main = next(one for one in documents if one.get("version") == "v1alpha1")
        return _state(main, [one for one in documents if one is not main and one is not None], attachments)
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UnreadableError("it is no YAML") from None
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration, binascii.Error) as error:
        raise UnreadableError(f"it is no machine configuration ({type(error).__name__})") from None


def _state(
    main: dict[str, Any], documents: list[dict[str, Any]], attachments: Mapping[str, bytes]
) -> statepb.MachineState:
    state = statepb.MachineState(features=sees(_SEES))
    machine, cluster = main["machine"], main["cluster"]
    of_a_kind = [one for one in documents if "kind" in one]
    _system(state.os, machine, of_a_kind)
    _registries(state.os, machine, of_a_kind)
    node = state.node
    node.role = _ROLES[machine["type"]]
    if node.role != clusterpb.ROLE_WORKER:
        state.features.extend(sees(f"{_SEES}-control-plane"))
        # Only who founds a cluster has something for its operator.
        node.role = clusterpb.ROLE_INIT if "talosconfig" in attachments else clusterpb.ROLE_CONTROL_PLANE
    node.kubernetes_version = machine["kubelet"]["image"].rpartition(":")[2]
    node.name = state.os.hostname.name.value
    endpoint = urlsplit(cluster["controlPlane"]["endpoint"])
    node.endpoint.host, node.endpoint.port = endpoint.hostname or "", endpoint.port or 0
    node.cluster_ca = base64.b64decode(cluster["ca"]["crt"], validate=True)
    node.bootstrap_token = cluster["token"]
    _extended(node, machine, cluster)
    node.kubernetes.CopyFrom(kubernetes(machine, cluster))
    node.secrets.extend(held(machine, cluster, attachments))
    state.others.extend(_others(main, documents))
    for name, value in (machine.get("nodeLabels") or {}).items():
        node.labels.add(name=name, value=value)
    for taint in (machine["kubelet"].get("extraConfig") or {}).get("registerWithTaints") or []:
        node.taints.add(key=taint["key"], value=taint.get("value", ""), effect=_EFFECTS[taint["effect"]])
    # Talos itself gives a control plane its usual taint.
    if node.role != clusterpb.ROLE_WORKER and not cluster.get("allowSchedulingOnControlPlanes"):
        node.taints.add(key=_USUAL_TAINT, effect=kubernetespb.TAINT_EFFECT_NO_SCHEDULE)
    return state


def _extended(node: statepb.Node, machine: dict[str, Any], cluster: dict[str, Any]) -> None:
    network = cluster.get("network") or {}
    node.cluster.name = cluster.get("clusterName") or ""
    node.cluster.service_domain = network.get("dnsDomain") or ""
    node.cluster.pod_cidrs.extend(network.get("podSubnets") or [])
    node.cluster.service_cidrs.extend(network.get("serviceSubnets") or [])
    # Talos runs one container runtime, at one place, and pulls what is not there. Source: its constants.
    node.cluster.control_plane = "talos"
    node.registration.cri_socket = "unix:///run/containerd/containerd.sock"
    node.registration.image_pull_policy = "IfNotPresent"
    fields = {**_KUBELET, **(machine["kubelet"].get("extraConfig") or {})}
    fields.pop("registerWithTaints", None)
    node.registration.kubelet_configuration.data = yaml.safe_dump(fields).encode()
    arguments = dict(machine["kubelet"].get("extraArgs") or {})
    node.registration.provider_id.value = arguments.pop("provider-id", "")
    for name, value in arguments.items():
        node.registration.kubelet_arguments.add(name=name, value=value)
    subnets = (machine["kubelet"].get("nodeIP") or {}).get("validSubnets") or [""]
    address, _, length = subnets[0].partition("/")
    # A network of more than one address says less than the bundle does.
    only = length == ("128" if ":" in address else "32")
    node.registration.node_ip.value = address if only else subnets[0]


def _items(system: ospb.OperatingSystem, machine: dict[str, Any]) -> None:
    for entry in machine.get("files") or []:
        file = system.files.add(path=entry["path"], owner="root", group="root", mode=entry["permissions"])
        file.content.data = entry["content"].encode()
    for name, value in (machine.get("sysctls") or {}).items():
        system.sysctls.add(name=name, value=str(value))
    for entry in (machine.get("kernel") or {}).get("modules") or []:
        system.kernel_modules.add(name=entry["name"], parameters=entry.get("parameters") or [])


def _system(system: ospb.OperatingSystem, machine: dict[str, Any], documents: list[dict[str, Any]]) -> None:
    _items(system, machine)
    hostname = (machine.get("network") or {}).get("hostname")
    variables = dict(machine.get("env") or {})
    time: dict[str, Any] | None = machine.get("time")
    for document in documents:
        if document["kind"] == "HostnameConfig":
            hostname = document.get("hostname") or hostname
        elif document["kind"] == "EnvironmentConfig":
            variables |= document["variables"]
        elif document["kind"] == "TimeSyncConfig":
            time = {"disabled": not document.get("enabled", True), **(document.get("ntp") or {})}
        elif document["kind"] == "TrustedRootsConfig":
            root = system.trusted_certificates.add(name=document["name"])
            root.certificate.data = document["certificates"].encode()
    _apply(system, hostname=hostname, variables=variables, time=time)


def _apply(
    system: ospb.OperatingSystem, *, hostname: str | None, variables: dict[str, str], time: dict[str, Any] | None
) -> None:
    if hostname:
        system.hostname.name.value = hostname
    if time is not None:
        system.ntp.enabled = not time.get("disabled", False)
        system.ntp.servers.extend(time.get("servers") or [])
    if variables:
        system.proxy.http_proxy = variables.get("http_proxy", "")
        system.proxy.https_proxy = variables.get("https_proxy", "")
        system.proxy.no_proxy.extend(one for one in variables.get("no_proxy", "").split(",") if one)


def _registries(system: ospb.OperatingSystem, machine: dict[str, Any], documents: list[dict[str, Any]]) -> None:
    mirrors, config = _sections(machine.get("registries") or {})
    for document in documents:
        name = document.get("name", "")
        if document["kind"] == "RegistryMirrorConfig":
            mirrors[name] = document
        elif document["kind"] == "RegistryTLSConfig":
            ca = document.get("ca")
            config.setdefault(name, {})["tls"] = {**document, "ca": ca.encode() if ca else None}
        elif document["kind"] == "RegistryAuthConfig":
            config.setdefault(name, {})["auth"] = document
    by_host: dict[str, ospb.Registry] = {}
    for name, mirror in mirrors.items():
        # Of what is called by the contract's own word no image is pulled.
        host = {"*": "_default", "_default": "never _default"}.get(name, name)
        registry = by_host.setdefault(host, system.containerd.registries.add(host=host))
        registry.only_endpoints = bool(mirror.get("skipFallback"))
        for entry in mirror["endpoints"]:
            endpoint = registry.endpoints.add(url=entry["url"], override_path=bool(entry.get("overridePath")))
            tls = config.get(urlsplit(endpoint.url).netloc, {}).get("tls") or {}
            endpoint.skip_verify = bool(tls.get("insecureSkipVerify"))
            if tls.get("ca"):
                endpoint.ca.data = tls["ca"]
    for name, entry in config.items():
        if entry.get("auth"):
            # Credentials go by the host that is asked, and no runtime asks docker.io for an image.
            host = _DOCKER.get(name, f"never {name}" if name in _DOCKER.values() else name)
            registry = by_host.get(host) or system.containerd.registries.add(host=host)
            registry.credentials.username = entry["auth"]["username"]
            registry.credentials.password.value = entry["auth"]["password"]


def _sections(registries: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Give mirrors and settings of the older shape in that of the newer one."""
    mirrors = {
        name: {
            "endpoints": [{"url": url, "overridePath": mirror.get("overridePath")} for url in mirror["endpoints"]],
            "skipFallback": mirror.get("skipFallback"),
        }
        for name, mirror in (registries.get("mirrors") or {}).items()
    }
    config: dict[str, dict[str, Any]] = {}
    for name, entry in (registries.get("config") or {}).items():
        tls = entry.get("tls") or {}
        ca = base64.b64decode(tls["ca"], validate=True) if tls.get("ca") else None
        config[name] = {"tls": {**tls, "ca": ca}, "auth": entry.get("auth")}
    return mirrors, config


def _others(main: Mapping[str, Any], documents: Sequence[Mapping[str, Any]]) -> Iterator[statepb.Other]:
    """Give all that is neither read nor what every machine of Talos has: a rule for a device, a door to its API."""
    tree = known("talos")
    yield from unread(main, tree["main"], "")
    for document in documents:
        kind = str(document.get("kind", "document"))
        if kind in tree["documents"]:
            yield from unread(document, {"apiVersion": None, "kind": None, **tree["documents"][kind]}, f"{kind}.")
        else:
            yield other(kind, document)
