"""Read Bottlerocket's user data, and tell what it says: for `slipway conformance run --decode-cmd`.

It reads the settings with Python's own TOML parser and shares no line with the provisioner, so that the two cannot be
wrong in the same way. User data comes on standard input; a MachineState goes to standard output, as JSON. The version
of Kubernetes is the image's, so nobody can find it here. A setting that it does not read is reported as such.
"""

import base64
import json
import sys
import tomllib
from urllib.parse import urlsplit

FEATURES = [
    "kubernetes.role", "kubernetes.cluster.endpoint", "kubernetes.credentials", "kubernetes.node.name",
    "kubernetes.node.labels", "kubernetes.node.taints", "kubernetes.node.kubelet_arguments", "kubernetes.node.node_ip",
    "kubernetes.node.provider_id", "kubernetes.cluster.name", "kubernetes.cluster.service_domain", "os.sysctls",
    "os.kernel.modules", "os.hostname", "os.ntp", "os.ntp.enabled", "os.ntp.servers", "os.proxy",
    "os.trusted_certificates", "os.containerd",
    "os.containerd.registries", "os.containerd.registries.credentials", "os.containerd.cgroup_driver",
    "os.containerd.sandbox_image", "ext.bottlerocket.example.com/host-containers",
]  # fmt: skip
ARGUMENTS = {"cloud-provider": ("cloud-provider", str), "max-pods": ("max-pods", int), "log-level": ("v", int)}
DNS = "cluster-dns-ip"
EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
READ = ...
KUBERNETES = [
    "api-server", "bootstrap-token", "cluster-certificate", "cluster-domain", "cluster-name", "hostname-override",
    "node-ip", "node-labels", "node-taints", "pod-infra-container-image", "provider-id", DNS, *ARGUMENTS,
]  # fmt: skip
KNOWN = {
    "kubernetes": {**dict.fromkeys(KUBERNETES, READ), "authentication-mode": "tls"},
    "kernel": {"sysctl": READ, "modules": {"*": {"allowed": True, "autoload": True}}},
    "network": {"hostname": READ, "https-proxy": READ, "no-proxy": READ},
    "ntp": {"time-servers": READ},
    "pki": {"*": {"data": READ, "trusted": True}},
    "container-registry": {
        "mirrors": {"registry": READ, "endpoint": READ},
        "credentials": {"registry": READ, "username": READ, "password": READ},
    },
    "host-containers": READ,
}  # what is read, or the only value that asks for nothing more


def argument(cluster, key):
    name, kind = ARGUMENTS[key]
    if type(cluster[key]) is not kind:
        raise TypeError(f"settings.kubernetes.{key} must be of type {kind.__name__}")
    return {"name": name, "value": str(cluster[key])}


def node(cluster):
    endpoint = urlsplit(cluster["api-server"])
    taints = [(key, *value.split(":")) for key, values in cluster.get("node-taints", {}).items() for value in values]
    return {
        "role": "ROLE_WORKER",  # Bottlerocket runs no control plane
        "name": cluster.get("hostname-override", ""),
        "endpoint": {"host": endpoint.hostname, "port": endpoint.port},
        "clusterCa": cluster["cluster-certificate"],
        "bootstrapToken": cluster["bootstrap-token"],
        "labels": [{"name": key, "value": value} for key, value in cluster.get("node-labels", {}).items()],
        "taints": [
            {"key": key, "value": value, "effect": f"TAINT_EFFECT_{EFFECTS[effect]}"} for key, value, effect in taints
        ],
        "cluster": {"name": cluster.get("cluster-name", ""), "serviceDomain": cluster.get("cluster-domain", "")},
        "registration": {
            "nodeIp": {"value": cluster.get("node-ip", "")},
            "providerId": {"value": cluster.get("provider-id", "")},
            "kubeletConfiguration": {"text": json.dumps({"clusterDNS": [cluster[DNS]]} if DNS in cluster else {})},
            "kubeletArguments": [argument(cluster, key) for key in ARGUMENTS if key in cluster],
        },
    }


def registries(settings):
    found = {}
    for mirror in settings.get("mirrors", []):
        host = "_default" if mirror["registry"] == "*" else mirror["registry"]
        found.setdefault(host, {"host": host})["endpoints"] = [{"url": url} for url in mirror["endpoint"]]
    for login in settings.get("credentials", []):
        one = found.setdefault(login["registry"], {"host": login["registry"]})
        one["credentials"] = {"username": login["username"], "password": {"value": login["password"]}}
    return list(found.values())


def system(settings):
    kernel, network = settings.get("kernel", {}), settings.get("network", {})
    modules = kernel.get("modules", {}).items()
    return {
        "sysctls": [{"name": name, "value": value} for name, value in kernel.get("sysctl", {}).items()],
        "kernelModules": [{"name": name} for name, entry in modules if entry["allowed"] and entry["autoload"]],
        "hostname": {"name": {"value": network.get("hostname", "")}},
        "ntp": {"enabled": True, "servers": settings.get("ntp", {}).get("time-servers", [])},
        "proxy": {"httpsProxy": network.get("https-proxy", ""), "noProxy": network.get("no-proxy", [])},
        "trustedCertificates": [
            {"name": name, "certificate": {"data": base64.b64encode(base64.b64decode(entry["data"])).decode()}}
            for name, entry in settings.get("pki", {}).items()
            if entry["trusted"]
        ],
        "containerd": {
            "registries": registries(settings.get("container-registry", {})),
            "cgroupDriver": "CGROUP_DRIVER_SYSTEMD",  # it knows no other
            "sandboxImage": settings["kubernetes"].get("pod-infra-container-image", ""),
        },
    }


def extensions(settings):
    containers = settings.get("host-containers")
    return [{"name": FEATURES[-1], "text": json.dumps(containers)}] if containers else []


def unread(section, known, place=""):
    for part in section if isinstance(section, list) else [section]:
        for key, value in part.items():
            expected = known.get(key, known.get("*"))
            if isinstance(expected, dict):
                yield from unread(value, expected, f"{place}{key}.")
            elif expected is not READ and value != expected:
                yield {"name": f"{place}{key}", "text": json.dumps(value, default=str)}


document = tomllib.loads(sys.stdin.buffer.read().decode())
found = document["settings"]
others = [*extensions(found), *unread(document, {"settings": KNOWN})]
state = {"node": node(found["kubernetes"]), "os": system(found), "others": others}
json.dump({"features": FEATURES, **state}, sys.stdout)
