"""What the kubeadm provider gives a machine today.

Its renderer is the real one. What its controller does before it renders (Secrets, discovery, KubeadmControlPlane's
feature gate) is written down here from the source of Cluster API 1.14, in its own order.
"""

import base64
import copy
import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from tests.oracles import cluster
from tests.oracles.configs import Config
from tools.oracles import kubeadm_provider
from tools.oracles.kubeadm_provider import ClusterFacts, Role

_LOCAL_MODE_MINORS = range(31, 36)


def user_data(config: Config) -> bytes:
    """The user data of one machine."""
    facts = cluster.facts()
    given = ClusterFacts(
        kubernetes_version=config.version,
        cluster_name=facts.name,
        control_plane_endpoint=cluster.ENDPOINT,
        service_domain=facts.service_domain,
        pod_subnet=",".join(facts.pod_cidrs),
        service_subnet=",".join(facts.service_cidrs),
        pki=cluster.pki(),
    )
    return kubeadm_provider.render(
        reconciled(config), role=config.role, facts=given, api_version=config.api_version, ignition=config.ignition
    )


def executed_in_order(config: bytes) -> bytes:
    """An Ignition config of spec 2.3 without duplicates, which the translator refuses and Ignition executes in order.

    A later file replaces an earlier one, a later unit adds to it.
    """
    tree = json.loads(config)
    files = tree.get("storage", {}).get("files", [])
    if files:
        tree["storage"]["files"] = list({file["path"]: file for file in files}.values())
    units: dict[str, dict[str, Any]] = {}
    for unit in tree.get("systemd", {}).get("units", []):
        earlier = units.setdefault(unit["name"], {})
        drop_ins = [*earlier.get("dropins", []), *unit.get("dropins", [])]
        earlier |= unit | ({"dropins": drop_ins} if drop_ins else {})
    tree["systemd"]["units"] = list(units.values())
    return json.dumps(tree).encode()


def reconciled(config: Config) -> dict[str, Any]:
    """The spec as the controller hands it to the renderer."""
    spec = copy.deepcopy(dict(config.spec))
    held = {(secret.name, secret.key): secret.value.decode() for secret in config.question.secrets.secrets}
    for file in spec.get("files", ()):
        _resolve(file, "contentFrom", "content", held)
        if file.pop("contentFormat", "Raw") == "Template":
            file["content"] = re.sub(r"\{\{ *\.controlPlane\.version *\}\}", config.version, file["content"])
    for user in spec.get("users", ()):
        _resolve(user, "passwdFrom", "passwd", held)
    if config.kind == "KubeadmControlPlane":
        _switch_on_local_mode(spec, config)
    if config.role is not Role.INIT:
        _discover(spec)
    return spec


def _resolve(item: dict[str, Any], source: str, target: str, held: Mapping[tuple[str, str], str]) -> None:
    if source in item:
        secret = item.pop(source)["secret"]
        item[target] = held[secret["name"], secret["key"]]


def _switch_on_local_mode(spec: dict[str, Any], config: Config) -> None:
    if int(config.version.split(".")[1]) in _LOCAL_MODE_MINORS:
        gates = spec.setdefault("clusterConfiguration", {}).setdefault("featureGates", {})
        gates.setdefault("ControlPlaneKubeletLocalMode", True)


def _discover(spec: dict[str, Any]) -> None:
    join = spec.setdefault("joinConfiguration", {})
    discovery = join.setdefault("discovery", {})
    if "file" in discovery:
        if "kubeConfig" in discovery["file"]:
            spec.setdefault("files", []).append(_kubeconfig(discovery["file"]))
        return
    token = discovery.setdefault("bootstrapToken", {})
    token.setdefault("caCertHashes", cluster.ca_hashes())
    token.setdefault("apiServerEndpoint", cluster.ENDPOINT)
    token.setdefault("token", cluster.token())


def _kubeconfig(discovery: dict[str, Any]) -> dict[str, Any]:
    """The file for a discovery by kubeconfig; Go's encoder sorts keys, and prints absent lists as null."""
    given = discovery.pop("kubeConfig")
    theirs = given.get("cluster", {})
    authority = base64.b64encode(cluster.pki()["ca.crt"].encode()).decode()
    about = {
        "certificate-authority-data": theirs.get("certificateAuthorityData", authority),
        "server": theirs.get("server", f"https://{cluster.ENDPOINT}"),
    }
    names = {"tlsServerName": "tls-server-name", "insecureSkipTLSVerify": "insecure-skip-tls-verify"}
    about |= {name: theirs[key] for key, name in {**names, "proxyURL": "proxy-url"}.items() if key in theirs}
    user: dict[str, Any] = {}
    if "exec" in given["user"]:
        program = given["user"]["exec"]
        user["exec"] = {
            "apiVersion": program.get("apiVersion", "client.authentication.k8s.io/v1"),
            "args": program.get("args"),
            "command": program["command"],
            "env": program.get("env"),
            "interactiveMode": "Never",
            "provideClusterInfo": program.get("provideClusterInfo", False),
        }
    if "authProvider" in given["user"]:
        plugin = given["user"]["authProvider"]
        user["auth-provider"] = {"config": plugin.get("config"), "name": plugin["name"]}
    tree = {
        "clusters": [{"cluster": about, "name": "default"}],
        "contexts": [{"context": {"cluster": "default", "user": "default"}, "name": "default"}],
        "current-context": "default",
        "users": [{"name": "default", "user": user}],
    }
    content = yaml.safe_dump(tree, width=10**9)
    return {"path": discovery["kubeConfigPath"], "owner": "root:root", "permissions": "0640", "content": content}
