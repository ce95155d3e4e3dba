"""discovery.file.kubeConfig: the kubeconfig that today's provider writes for the machine."""

import base64
import binascii
from typing import Any

import yaml

from slipway.bootstrapper.engines.endpoint import host_port
from slipway.bootstrapper.importers.kubeadm_config.kubeadm_items import (
    FileDiscoveryKubeConfig,
    KubeConfigCluster,
    KubeConfigUser,
)
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_CA = secretpb.SecretReference(name="slipway.dev/cluster-ca", key="tls.crt")
_NAME = "default"


def kubeconfig(context: Context, place: Place, config: FileDiscoveryKubeConfig) -> contentpb.Content:
    """Give the file; server and CA are those of the cluster where the config does not say them."""
    cluster = config.cluster or KubeConfigCluster()
    tree = {
        "clusters": [{"cluster": _cluster(context, place.at("cluster"), cluster), "name": _NAME}],
        "contexts": [{"context": {"cluster": _NAME, "user": _NAME}, "name": _NAME}],
        "current-context": _NAME,
        "users": [{"name": _NAME, "user": _user(context, place.at("user"), config.user)}],
    }
    marker = "CLUSTERCA"
    text = yaml.safe_dump(tree, default_flow_style=False, width=10**9, allow_unicode=True)
    while marker in text:
        marker += "X"
    if not cluster.certificate_authority_data:
        tree["clusters"][0]["cluster"]["certificate-authority-data"] = marker  # type: ignore[index]
        text = yaml.safe_dump(tree, default_flow_style=False, width=10**9, allow_unicode=True)
    before, separator, after = text.partition(marker)
    if not separator:
        return contentpb.Content(text=text)
    authority = contentpb.Segment(secret_ref=_CA, encoding=contentpb.SPLICE_ENCODING_BASE64)
    return contentpb.Content(segments=[contentpb.Segment(text=before), authority, contentpb.Segment(text=after)])


def _cluster(context: Context, place: Place, cluster: KubeConfigCluster) -> dict[str, Any]:
    server = context.plain_in_kubeadm(place.at("server"), cluster.server) or _server(context)
    if not server:
        context.findings.refuse(place.at("server"), "required, since the cluster's endpoint is not known")
    tree: dict[str, Any] = {"server": server}
    if cluster.certificate_authority_data:
        tree["certificate-authority-data"] = _checked_base64(context, place, cluster.certificate_authority_data)
    if cluster.tls_server_name:
        tree["tls-server-name"] = context.plain_in_kubeadm(place.at("tlsServerName"), cluster.tls_server_name)
    if cluster.insecure_skip_tls_verify:
        tree["insecure-skip-tls-verify"] = True
    if cluster.proxy_url:
        tree["proxy-url"] = context.plain_in_kubeadm(place.at("proxyURL"), cluster.proxy_url)
    return tree


def _server(context: Context) -> str:
    server = host_port(context.cluster.endpoint)
    return f"https://{server}" if server else ""


def _checked_base64(context: Context, place: Place, text: str) -> str:
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        context.findings.refuse(place.at("certificateAuthorityData"), "must be base64 of PEM certificates")
    return "".join(text.split())


def _user(context: Context, place: Place, user: KubeConfigUser) -> dict[str, Any]:
    if user.exec_ is not None:
        program = user.exec_
        here = place.at("exec")
        texts = [context.plain_in_kubeadm(here.at("args", index), text) for index, text in enumerate(program.args)]
        env = [
            {
                "name": context.plain_in_kubeadm(here.at("env", index, "name"), each.name),
                "value": context.plain_in_kubeadm(here.at("env", index, "value"), each.value),
            }
            for index, each in enumerate(program.env)
        ]
        version = context.plain_in_kubeadm(here.at("apiVersion"), program.api_version)
        return {
            "exec": {
                "apiVersion": version or "client.authentication.k8s.io/v1",
                "args": texts or None,
                "command": context.plain_in_kubeadm(here.at("command"), program.command),
                "env": env or None,
                "interactiveMode": "Never",
                "provideClusterInfo": bool(program.provide_cluster_info),
            }
        }
    if user.auth_provider is not None:
        here = place.at("authProvider", "config")
        config = {
            context.plain_in_kubeadm(here.at(key), key): context.plain_in_kubeadm(here.at(key), text)
            for key, text in user.auth_provider.config.items()
        }
        name = context.plain_in_kubeadm(place.at("authProvider", "name"), user.auth_provider.name)
        return {"auth-provider": {"config": config or None, "name": name}}
    context.findings.refuse(place, "needs authProvider or exec")
    return {}
