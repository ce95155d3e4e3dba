"""The kubelet and the Node: arguments, configuration, labels, taints, address, static pods."""

import ipaddress
from typing import Any

from slipway.contract.yaml_limits import SHORT, Limits, limits_together
from slipway.provisioners.talos.arguments import arguments
from slipway.provisioners.talos.documents import Kubelet, NodeIP
from slipway.provisioners.talos.kubelet_fields import PROTECTED, known
from slipway.provisioners.talos.naming import Names, literal
from slipway.provisioners.talos.versions import TalosVersion
from slipway.provisioners.talos.yaml_text import read_kubernetes
from slipway.sdk import RenderContext
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

_NODE = "intent.kubernetes.node"
_IMAGE = "ghcr.io/siderolabs/kubelet"
_EFFECTS = {
    kubernetespb.TAINT_EFFECT_NO_SCHEDULE: "NoSchedule",
    kubernetespb.TAINT_EFFECT_PREFER_NO_SCHEDULE: "PreferNoSchedule",
    kubernetespb.TAINT_EFFECT_NO_EXECUTE: "NoExecute",
}
_USUAL_TAINT = "node-role.kubernetes.io/control-plane"
_CONTROL_PLANE_LABELS = {"node.kubernetes.io/exclude-from-external-load-balancers": ""}
# Source: the NodeRestriction admission plugin: what a worker's kubelet may set on its own Node.
_OWN_LABELS = frozenset(
    """kubernetes.io/hostname kubernetes.io/os kubernetes.io/arch beta.kubernetes.io/os
    beta.kubernetes.io/arch beta.kubernetes.io/instance-type topology.kubernetes.io/zone topology.kubernetes.io/region
    failure-domain.beta.kubernetes.io/zone failure-domain.beta.kubernetes.io/region""".split()  # noqa: SIM905  # a list of that many quotes cannot be read
)
_OWN_LABEL_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
_RESERVED_DOMAINS = (".kubernetes.io", ".k8s.io")


def kubelet(  # noqa: PLR0913  # each is a fact of its own
    node: kubernetespb.NodeRegistration,
    *,
    tag: str,
    control_plane: bool,
    names: Names,
    version: TalosVersion,
    ctx: RenderContext,
) -> Kubelet:
    """Give the kubelet's section."""
    feature = "kubernetes.node.kubelet_arguments"
    args = arguments(node.kubelet_arguments, "kubelet", path=f"{_NODE}.kubelet_arguments", feature=feature, ctx=ctx)
    if node.HasField("provider_id"):
        if "provider-id" in args:
            why, remedy = "is given as an argument too", "leave out the argument provider-id"
            ctx.refuse(f"{_NODE}.provider_id", "kubernetes.node.provider_id", why, remedy=remedy)
        args["provider-id"] = literal(node.provider_id)
    configuration = _configuration(node, version, ctx)
    # Talos' own nodeTaints holds one effect a key, and a worker could not set them on itself afterwards.
    if taints := _taints(node.taints, control_plane=control_plane):
        if "registerWithTaints" in configuration or "register-with-taints" in args:
            why, remedy = "are given to the kubelet too", "leave out those among arguments and configuration"
            ctx.refuse(f"{_NODE}.taints", "kubernetes.node.taints", why, remedy=remedy)
        configuration["registerWithTaints"] = taints
    address = literal(node.node_ip)
    if node.HasField("node_ip") and not _is_address(address):
        remedy = "write one address of IPv4 or IPv6"
        ctx.refuse(f"{_NODE}.node_ip", "kubernetes.node.node_ip", "must be one IP address for Talos", remedy=remedy)
    subnet = f"{address}/{128 if ':' in address else 32}"
    return Kubelet(
        image=f"{_IMAGE}:{tag}",
        extra_args=args or None,
        extra_config=configuration or None,
        register_with_fqdn=names.with_domain,
        node_ip=NodeIP(valid_subnets=[subnet]) if node.HasField("node_ip") else None,
    )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def schedules_everything(node: kubernetespb.NodeRegistration) -> bool | None:
    """Return whether a control plane's usual taint is left out; None when nobody said anything."""
    if not node.HasField("taints"):
        return None
    return not any(_usual(taint) for taint in node.taints.items)


def labels(node: kubernetespb.NodeRegistration, *, control_plane: bool, ctx: RenderContext) -> dict[str, str]:
    """Give the Node's labels. What a worker may not give to itself is refused: Talos would try for ever."""
    result = dict(_CONTROL_PLANE_LABELS) if control_plane else {}
    for index, label in enumerate(node.labels):
        if not control_plane and not _own(label.name):
            why = "is a label that the API server does not let a worker give to itself"
            remedy = "choose a label outside kubernetes.io and k8s.io, or set it when the node is there"
            ctx.refuse(f"{_NODE}.labels[{index}].name", "kubernetes.node.labels", why, remedy=remedy)
        result[label.name] = label.value
    return result


def static_pods(kubernetes: kubernetespb.Kubernetes, ctx: RenderContext) -> list[dict[str, Any]]:
    """Give the static pods as mappings."""
    pods = []
    limits = limits_together(SHORT)
    for index, pod in enumerate(kubernetes.static_pods):
        path = f"intent.kubernetes.static_pods[{index}].manifest"
        manifest = mapping(ctx.content(pod.manifest, path), path, "kubernetes.static_pods", ctx, limits)
        if manifest is None:
            continue
        if manifest.get("kind") != "Pod" or manifest.get("apiVersion") != "v1":
            ctx.refuse(path, "kubernetes.static_pods", "must be a Pod of apiVersion v1", remedy="write a Pod")
        pods.append(manifest)
    return pods


def mapping(data: bytes, path: str, feature: str, ctx: RenderContext, limits: Limits = SHORT) -> dict[str, Any] | None:
    """Give the one mapping that a document in YAML or JSON holds; refuse anything else, and give None."""
    try:
        configuration = read_kubernetes(data, limits)
    except ValueError as error:
        ctx.refuse(path, feature, str(error), remedy="write one document in YAML or JSON")
        return None
    if len(configuration) == 1 and isinstance(configuration[0], dict):
        return configuration[0]
    ctx.refuse(path, feature, "must hold one document, a mapping", remedy="write one document in YAML or JSON")
    return None


def _configuration(node: kubernetespb.NodeRegistration, version: TalosVersion, ctx: RenderContext) -> dict[str, Any]:
    if not node.HasField("kubelet_configuration"):
        return {}
    path, feature = f"{_NODE}.kubelet_configuration", "kubernetes.node.kubelet_configuration"
    opaque = node.kubelet_configuration
    fields = mapping(opaque.data or opaque.text.encode(), path, feature, ctx) or {}
    kind = (fields.pop("apiVersion", None), fields.pop("kind", None))
    if kind not in (("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"), (None, None)):
        why = "must be a KubeletConfiguration of kubelet.config.k8s.io/v1beta1"
        ctx.refuse(path, feature, why, remedy="write that kind and version, or neither")
    if protected := sorted(PROTECTED & set(fields)):
        why = f"sets {', '.join(protected)}, which Talos sets by itself"
        ctx.refuse(path, feature, why, remedy=f"leave out {', '.join(protected)}")
    if unknown := set(fields) - known(version.minor) - PROTECTED:
        why = f"has {len(unknown)} fields that this kubelet does not know"
        ctx.refuse(path, feature, why, remedy="correct their names, or leave them out")
    return fields


def _taints(taints: kubernetespb.Taints, *, control_plane: bool) -> list[dict[str, str]]:
    return [
        {
            "key": taint.key,
            "effect": _EFFECTS[taint.effect],
            **({"value": taint.value} if taint.value else {}),
        }
        for taint in taints.items
        if not (control_plane and _usual(taint))
    ]


def _usual(taint: kubernetespb.Taint) -> bool:
    effect = kubernetespb.TAINT_EFFECT_NO_SCHEDULE
    return taint.key == _USUAL_TAINT and taint.effect == effect and not taint.value


def _own(name: str) -> bool:
    domain, separator, _ = name.rpartition("/")
    if not separator or not f".{domain}".endswith(_RESERVED_DOMAINS):
        return True
    return name in _OWN_LABELS or f".{domain}".endswith(tuple(f".{own}" for own in _OWN_LABEL_DOMAINS))
