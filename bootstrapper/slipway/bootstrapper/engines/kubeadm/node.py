"""How the node registers: one struct of kubeadm's, from the neutral registration and the engine's options."""

from collections.abc import Sequence

from slipway.bootstrapper.engines.documents.spliced import Text
from slipway.bootstrapper.engines.kubeadm.arguments import refuse_doubled, user_arguments
from slipway.bootstrapper.engines.kubeadm.documents.parts import Taint
from slipway.bootstrapper.engines.kubeadm.documents.v1beta4 import Arg, NodeRegistrationOptions
from slipway.bootstrapper.engines.kubeadm.node_labels import is_restricted, label_names
from slipway.bootstrapper.engines.kubeadm.remarks import IGNORED_PREFLIGHT_ERROR
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest
from slipway.bootstrapper.engines.request import KUBERNETES, NODE
from slipway.bootstrapper.engines.texts import concatenated, machine_text
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

CONTAINERD = "unix:///run/containerd/containerd.sock"
CONTAINERD_WINDOWS = "npipe:////./pipe/containerd-containerd"

UNINITIALIZED = Taint(key="node.cluster.x-k8s.io/uninitialized", effect="NoSchedule")
"""Cluster API's mark of a worker whose labels are not set yet."""

_ARGUMENTS = "kubernetes.node.kubelet_arguments"
_LABELS = "node-labels"
_MANIFESTS_CHECK = "DirAvailable--etc-kubernetes-manifests"
_EFFECTS = {
    kubernetespb.TAINT_EFFECT_NO_SCHEDULE: "NoSchedule",
    kubernetespb.TAINT_EFFECT_PREFER_NO_SCHEDULE: "PreferNoSchedule",
    kubernetespb.TAINT_EFFECT_NO_EXECUTE: "NoExecute",
}


def node_registration(request: EngineRequest) -> NodeRegistrationOptions:
    """Give kubeadm's registration of the node."""
    node, options = request.kubernetes.node, request.options
    return NodeRegistrationOptions(
        name=machine_text(node.name) if node.HasField("name") else "",
        cri_socket=_cri_socket(request),
        taints=_taints(request),
        kubelet_extra_args=tuple(_kubelet_arguments(request)),
        ignore_preflight_errors=tuple(_ignored_errors(request)),
        image_pull_policy=node.image_pull_policy,
        image_pull_serial=options.image_pull_serial if options.HasField("image_pull_serial") else None,
    )


def _taints(request: EngineRequest) -> tuple[Taint, ...] | None:
    """Give the taints; None leaves them to kubeadm.

    The kubeadm provider gives every worker one more, which Cluster API takes away once it has set the
    node's labels: a worker of an imported spec keeps it.
    """
    node = request.kubernetes.node
    taints = tuple(_taint(taint) for taint in node.taints.items)
    if request.imported and not request.is_control_plane:
        is_marked = any((taint.key, taint.effect) == (UNINITIALIZED.key, UNINITIALIZED.effect) for taint in taints)
        return taints if is_marked else (*taints, UNINITIALIZED)
    return taints if node.HasField("taints") else None


def _cri_socket(request: EngineRequest) -> str:
    """Give the socket. An imported spec without one leaves the choice to kubeadm, as it does today."""
    node = request.kubernetes.node
    if node.HasField("cri_socket") or (request.imported and not request.layout.windows):
        return node.cri_socket
    return CONTAINERD_WINDOWS if request.layout.windows else CONTAINERD


def _kubelet_arguments(request: EngineRequest) -> list[Arg]:
    node = request.kubernetes.node
    path = f"{NODE}.kubelet_arguments"
    arguments = user_arguments(request, node.kubelet_arguments, feature=_ARGUMENTS, path=path)
    own: dict[str, Text] = {}
    if node.HasField("provider_id"):
        own["provider-id"] = machine_text(node.provider_id)
    if node.HasField("node_ip"):
        own["node-ip"] = machine_text(node.node_ip)
    refuse_doubled(request.remarks, arguments, own, feature=_ARGUMENTS, path=path)
    _check_labels(request, arguments)
    if node.labels:
        arguments, own[_LABELS] = _with_labels(arguments, node.labels)
    return [*arguments, *(Arg(name=name, value=value) for name, value in own.items())]


def _check_labels(request: EngineRequest, arguments: Sequence[Arg]) -> None:
    """Reject labels that the kubelet does not start with, of the spec and of an argument."""
    places = [
        ("kubernetes.node.labels", f"{NODE}.labels[{index}]", [label.name])
        for index, label in enumerate(request.kubernetes.node.labels)
    ]
    places += [
        (_ARGUMENTS, f"{NODE}.kubelet_arguments[{index}]", list(label_names(argument.value)))
        for index, argument in enumerate(arguments)
        if argument.name == _LABELS
    ]
    for feature, path, names in places:
        if any(is_restricted(name) for name in names):
            request.remarks.reject(
                feature,
                path,
                "has a label with which the kubelet does not start: one of the domains kubernetes.io and k8s.io that a "
                "node must not set on itself",
                remedy="remove the label here, and set it in the metadata of the Machine's template, from where "
                "Cluster API copies node-role.kubernetes.io and node-restriction.kubernetes.io to the node, or with "
                "kubectl label",
            )


def _with_labels(arguments: Sequence[Arg], labels: Sequence[kubernetespb.Label]) -> tuple[list[Arg], Text]:
    """Join the labels of the spec with those of an argument: the kubelet takes both as one list."""
    texts: list[Text] = [argument.value for argument in arguments if argument.name == _LABELS]
    texts += [f"{label.name}={label.value}" for label in labels]
    rest = [argument for argument in arguments if argument.name != _LABELS]
    return rest, concatenated(texts, ",")


def _ignored_errors(request: EngineRequest) -> list[str]:
    """Give the ignored checks; static pods of the spec lie where kubeadm expects an empty folder."""
    ignored = list(request.options.ignored_preflight_errors)
    if request.kubernetes.static_pods and not {_MANIFESTS_CHECK, "all"} & set(ignored):
        ignored.append(_MANIFESTS_CHECK)
        request.remarks.inform(
            IGNORED_PREFLIGHT_ERROR,
            f"{KUBERNETES}.static_pods",
            "kubeadm's check that the folder of static pods is empty is ignored, because these are in it",
        )
    return ignored


def _taint(taint: kubernetespb.Taint) -> Taint:
    return Taint.model_validate({"key": taint.key, "value": taint.value, "effect": _EFFECTS.get(taint.effect, "")})
