"""Patches for what kubeadm writes: the user's own, one with a kubelet configuration, and those of a control plane.

kubeadm has no field for the kubelet configuration of one machine. Its patch of the target
kubeletconfiguration (kubeadm 1.25 and newer) overrides the cluster's configuration on this machine only,
which is what the spec means.

Nor has it a field for the components of a control plane that joins: it takes their arguments and volumes from its
ConfigMap. There Cluster API puts what a KubeadmControlPlane says, which has no files of components. So an imported
control plane that joins has patches with what its files need: the same again where the ConfigMap has it, too.
"""

import json
from collections.abc import Iterable, Iterator

from slipway.bootstrapper.engines.component_files import API_SERVER, CONTROLLER_MANAGER, SCHEDULER, ComponentFiles
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest, root_file
from slipway.bootstrapper.engines.request import NODE, PRIVATE
from slipway.contract.errors import BundleInvalid, Violation
from slipway.contract.source_position import SourceError
from slipway.contract.yaml_limits import SHORT
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1.content_pb2 import Content

KUBELET_PATCH = "kubeletconfigurationslipway+merge"
_KUBELET = "kubernetes.node.kubelet_configuration"
_OWN_KEYS = ("apiVersion", "kind")
_PODS = {
    API_SERVER: "kube-apiserver",
    CONTROLLER_MANAGER: "kube-controller-manager",
    SCHEDULER: "kube-scheduler",
}
"""The targets of patches: names of static pods, and of their containers."""


def patch_files(request: EngineRequest, of_components: ComponentFiles) -> list[ospb.File]:
    """Give the files of all patches."""
    folder = patch_folder(request, of_components)
    options = request.options
    files = [
        root_file(request.layout.below(folder, patch.name), patch.content, mode=PRIVATE, source=options.origin)
        for patch in options.patches
    ]
    if _patches_kubelet(request):
        node = request.kubernetes.node
        data = _document(node.kubelet_configuration)
        path = request.layout.below(folder, f"{KUBELET_PATCH}.json")
        files.append(root_file(path, Content(data=data), mode=PRIVATE, source=node.origin))
    if _patches_components(request, of_components):
        source = request.kubernetes.control_plane.origin
        for name, patch in _of_components(of_components):
            path = request.layout.below(folder, name)
            files.append(root_file(path, Content(data=patch), mode=PRIVATE, source=source))
    return files


def patch_folder(request: EngineRequest, of_components: ComponentFiles) -> str:
    """Give the folder of patches; "" where there are none."""
    if request.options.patches_directory:
        return request.options.patches_directory
    own = _patches_kubelet(request) or _patches_components(request, of_components)
    return request.layout.patches if request.options.patches or own else ""


def argument_patch(arguments: Iterable[tuple[str, str]]) -> bytes:
    """Give a JSON patch (RFC 6902) that has a static pod's program get more arguments, behind those that it has.

    One that it has already counts as the last one says, or has one list with it, as the program reads it.
    """
    path = "/spec/containers/0/command/-"
    return _as_json([{"op": "add", "path": path, "value": f"--{name}={value}"} for name, value in arguments])


def check_kubelet_configuration(request: EngineRequest) -> None:
    """Say so when kubeadm of this version has no way for a kubelet configuration."""
    if request.kubernetes.node.HasField("kubelet_configuration") and not _patches_kubelet(request):
        request.remarks.drop(
            _KUBELET,
            f"{NODE}.kubelet_configuration",
            "kubeadm takes the kubelet configuration of one machine since Kubernetes 1.25",
            remedy="use kubelet arguments",
        )


def kubelet_settings(request: EngineRequest) -> dict[str, object]:
    """Give the fields of the spec's kubelet configuration; none where it has none.

    Raises:
        BundleInvalid: it is not one KubeletConfiguration in YAML or JSON.
    """
    if not _patches_kubelet(request):
        return {}
    settings: dict[str, object] = json.loads(_document(request.kubernetes.node.kubelet_configuration))
    return settings


def _patches_kubelet(request: EngineRequest) -> bool:
    has = request.kubernetes.node.HasField("kubelet_configuration")
    return has and request.version.series >= (1, 25)


def _patches_components(request: EngineRequest, of_components: ComponentFiles) -> bool:
    return request.imported and not request.creates_cluster and bool(of_components.files)


def _of_components(of_components: ComponentFiles) -> Iterator[tuple[str, bytes]]:
    """Give the patches of static pods by file name; volumes are merged by their names, and mounts by their paths."""
    for component in dict.fromkeys(path.component for path in of_components.paths):
        pod, arguments = _PODS[component], of_components.arguments.get(component, {})
        paths = [path for path in of_components.paths if path.component == component]
        mounts = [{"name": path.name, "mountPath": path.path, "readOnly": not path.folder} for path in paths]
        volumes = [{"name": path.name, "hostPath": {"path": path.path, "type": path.type}} for path in paths]
        spec = {"containers": [{"name": pod, "volumeMounts": mounts}], "volumes": volumes}
        if arguments:
            yield f"{pod}slipway+json.json", argument_patch(arguments.items())
        yield f"{pod}slipway+strategic.json", _as_json({"spec": spec})


def _as_json(tree: object) -> bytes:
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"


def _document(document: kubernetespb.OpaqueDocument) -> bytes:
    """Give the user's document as a JSON merge patch, without what only names its type.

    Raises:
        BundleInvalid: it is not one KubeletConfiguration in YAML or JSON.
    """
    why = "must be one KubeletConfiguration in YAML or JSON"
    try:
        text = document.text if document.WhichOneof("source") == "text" else document.data.decode()
        (read,) = load_documents(text, file="", limits=SHORT)
        tree = read.value
        if isinstance(tree, dict) and tree.get("kind", "KubeletConfiguration") == "KubeletConfiguration":
            patch = {key: value for key, value in tree.items() if key not in _OWN_KEYS}
            return _as_json(patch)
    except SourceError as error:
        why = "is not YAML that can be read: " + "; ".join(problem.message for problem in error.problems)
    except (UnicodeError, TypeError, ValueError):
        pass
    raise BundleInvalid(
        "the kubelet configuration cannot be used",
        violations=[
            Violation(
                f"{NODE}.kubelet_configuration",
                why,
                remedy="write one document of that kind",
            )
        ],
    )
