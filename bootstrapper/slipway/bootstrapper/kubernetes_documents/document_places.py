"""Where a spec holds documents of Kubernetes' own kinds: in fields of its own, or in files that an argument names."""

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from google.protobuf.message import Message

from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

MANIFESTS = "/etc/kubernetes/manifests"
_CONFIG = "Config"
_ARGUMENTS = {
    "admission-control-config-file": "AdmissionConfiguration",
    "audit-policy-file": "Policy",
    "audit-webhook-config-file": _CONFIG,
    "authentication-config": "AuthenticationConfiguration",
    "authentication-kubeconfig": _CONFIG,
    "authentication-token-webhook-config-file": _CONFIG,
    "authorization-config": "AuthorizationConfiguration",
    "authorization-kubeconfig": _CONFIG,
    "authorization-webhook-config-file": _CONFIG,
    "egress-selector-config-file": "EgressSelectorConfiguration",
    "encryption-provider-config": "EncryptionConfiguration",
    "kubeconfig": _CONFIG,
    "tracing-config-file": "TracingConfiguration",
}
"""Arguments of the control plane's components, and the kind of the file that each names."""

_PATCHED = {
    **dict.fromkeys(("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"), "Pod"),
    "kubeletconfiguration": "KubeletConfiguration",
}


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A document in a spec.

    Attributes:
        path: field path of the spec.
        kind: the kind that it must be.
        content: what it holds.
        partial: it is laid over another document of the kind, which has what it lacks.
        is_patch_file: it is a file of patches: one after the other, or none (kubeadm's CreatePatchSet).
    """

    path: str
    kind: str
    content: contentpb.Content | kubernetespb.OpaqueDocument
    partial: bool = False
    is_patch_file: bool = False


def document_places(spec: specpb.MachineBootstrapSpec) -> Iterator[DocumentPlace]:
    """Give the documents of a spec whose overrides are applied."""
    kubernetes, control_plane = spec.kubernetes, spec.kubernetes.control_plane
    plane = "kubernetes.control_plane"
    if control_plane.HasField("audit"):
        yield DocumentPlace(f"{plane}.audit.policy", "Policy", control_plane.audit.policy)
    if control_plane.HasField("encryption"):
        content = control_plane.encryption.configuration
        yield DocumentPlace(f"{plane}.encryption.configuration", "EncryptionConfiguration", content)
    if control_plane.HasField("authentication_webhook"):
        content = control_plane.authentication_webhook.kubeconfig
        yield DocumentPlace(f"{plane}.authentication_webhook.kubeconfig", _CONFIG, content)
    for index, file in enumerate(control_plane.files):
        if file.argument in _ARGUMENTS:
            yield DocumentPlace(f"{plane}.files[{index}].content", _ARGUMENTS[file.argument], file.content)
    for index, pod in enumerate(kubernetes.static_pods):
        yield DocumentPlace(f"kubernetes.static_pods[{index}].manifest", "Pod", pod.manifest)
    if kubernetes.discovery.file.HasField("kubeconfig"):
        yield DocumentPlace("kubernetes.discovery.file.kubeconfig", _CONFIG, kubernetes.discovery.file.kubeconfig)
    if kubernetes.node.HasField("kubelet_configuration"):
        document = kubernetes.node.kubelet_configuration
        yield DocumentPlace("kubernetes.node.kubelet_configuration", "KubeletConfiguration", document, partial=True)
    for engine, options in spec.engine_options.ListFields():
        yield from _patches(options, f"engine_options.{engine.name}")
    yield from _files(spec)


def _patches(options: Message, path: str) -> Iterator[DocumentPlace]:
    """Give the patches of an engine that takes some: the name of each begins with that of what it is laid over."""
    for index, patch in enumerate(getattr(options, "patches", ())):
        kind = _patched_kind(patch.name)
        if kind:
            yield DocumentPlace(
                f"{path}.patches[{index}].content", kind, patch.content, partial=True, is_patch_file=True
            )


def _patched_kind(name: str) -> str:
    """Give the kind of what a patch file is laid over; "" for a list of JSON patch operations, and other files."""
    target = next((target for target in _PATCHED if name.startswith(target)), "")
    is_patch = name.endswith((".yaml", ".json")) and "+json" not in name
    return _PATCHED[target] if target and is_patch else ""


def _files(spec: specpb.MachineBootstrapSpec) -> Iterator[DocumentPlace]:
    named = dict(_named_files(spec.kubernetes.control_plane))
    folders = {
        posixpath.normpath(options.patches_directory)
        for _, options in spec.engine_options.ListFields()
        if getattr(options, "patches_directory", "")
    }
    for index, file in enumerate(spec.os.files):
        if not file.HasField("content") or file.append:
            continue
        folder, name = posixpath.split(file.path)
        kind = named.get(file.path, "")
        if folder == MANIFESTS and name.endswith((".yaml", ".yml", ".json")) and not name.startswith("."):
            kind = "Pod"
        is_patch = not kind and folder in folders
        if is_patch:
            kind = _patched_kind(name)
        if kind:
            path = f"os.files[{index}].content"
            yield DocumentPlace(path, kind, file.content, partial=is_patch, is_patch_file=is_patch)


def _named_files(control_plane: kubernetespb.ControlPlane) -> Iterator[tuple[str, str]]:
    """Give paths of the machine that arguments of components name, each with its kind."""
    for component in (control_plane.api_server, control_plane.controller_manager, control_plane.scheduler):
        folders = [(volume.mount_path, volume.host_path) for volume in component.volumes]
        for argument in component.arguments:
            if argument.name in _ARGUMENTS and argument.value:
                yield _on_host(argument.value, folders), _ARGUMENTS[argument.name]


def _on_host(path: str, folders: Iterable[tuple[str, str]]) -> str:
    """Give the path on the machine of a path in a component's container."""
    for inside, outside in folders:
        if path == inside or path.startswith(f"{inside.rstrip('/')}/"):
            return posixpath.normpath(f"{outside}/{path[len(inside.rstrip('/')) :]}") if path != inside else outside
    return path


def literal_text(content: contentpb.Content | kubernetespb.OpaqueDocument) -> str | None:
    """Give the text of a content that is known now as a whole; None for one with secrets, facts or templates in it."""
    if isinstance(content, contentpb.Content) and content.segments:
        if any(segment.WhichOneof("value") != "text" for segment in content.segments):
            return None
        return "".join(segment.text for segment in content.segments)
    source = content.WhichOneof("source")
    if source == "text":
        return content.text
    try:
        return content.data.decode() if source == "data" else None
    except UnicodeDecodeError:
        return None
