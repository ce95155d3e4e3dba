"""Patches for what kubeadm writes: the user's own, and the one that carries a kubelet configuration.

kubeadm has no field for the kubelet configuration of one machine. Its patch of the target
kubeletconfiguration (kubeadm 1.25 and newer) overrides the cluster's configuration on this machine only,
which is what the spec means.
"""

import json

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


def patch_files(request: EngineRequest) -> list[ospb.File]:
    """Give the files of all patches."""
    folder = patch_folder(request)
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
    return files


def patch_folder(request: EngineRequest) -> str:
    """Give the folder of patches; "" where there are none."""
    if request.options.patches_directory:
        return request.options.patches_directory
    return request.layout.patches if request.options.patches or _patches_kubelet(request) else ""


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
            return json.dumps(patch, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"
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
