"""The components of the control plane: images, arguments, volumes, files, audit, etcd, addons."""

from dataclasses import dataclass, field
from typing import Any

from google.protobuf.duration_pb2 import Duration

from slipway.provisioners.talos.arguments import DENIED, arguments
from slipway.provisioners.talos.documents import Addon, APIServer, Component, Etcd, KeyPair, MachineFile, Volume
from slipway.provisioners.talos.kubelet import mapping
from slipway.provisioners.talos.versions import TalosVersion
from slipway.sdk import RenderContext
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

_PATH = "intent.kubernetes.control_plane"
_FEATURE = "kubernetes.control_plane"
_DEFAULT_REPOSITORY = "registry.k8s.io"
_IMAGES = {
    "api_server": "kube-apiserver",
    "controller_manager": "kube-controller-manager",
    "scheduler": "kube-scheduler",
}
_FILES = "/var/lib/kubernetes-files"
_READABLE = 0o644
_CHECKS = ("Directory", "File", "Socket", "CharDevice", "BlockDevice")


@dataclass(slots=True)
class ControlPlane:
    """The control plane's components of one machine, for one Talos version.

    Attributes:
        kubernetes: what the spec says.
        tag: tag of Kubernetes' images.
        version: the Talos version.
        ctx: where refusals go.
        files: files that components read, to be made on the machine.
    """

    kubernetes: kubernetespb.Kubernetes
    tag: str
    version: TalosVersion
    ctx: RenderContext
    files: list[MachineFile] = field(default_factory=list)

    def api_server(self, endpoint_host: str) -> APIServer:
        """Give the API server. The cluster's endpoint is always in its certificate."""
        plane = self.kubernetes.control_plane
        component = self.component("api_server", plane.api_server)
        sans = dict.fromkeys([endpoint_host, *plane.api_server_sans])
        policy = self._audit(component) if plane.HasField("audit") else None
        if plane.HasField("authentication_webhook"):
            self._webhook(component)
        return APIServer(**dict(component), cert_sans=list(sans), audit_policy=policy)

    def component(self, name: str, component: kubernetespb.Component) -> Component:
        """Give a component: "api_server", "controller_manager" or "scheduler"."""
        path, feature = f"{_PATH}.{name}", f"{_FEATURE}.{name}"
        args = arguments(
            component.arguments, name, path=f"{path}.arguments", feature=f"{feature}.arguments", ctx=self.ctx
        )
        volumes = []
        for index, volume in enumerate(component.volumes):
            self._path_type(volume.path_type, f"{path}.volumes[{index}].path_type", f"{feature}.volumes")
            read_only = True if volume.read_only else None
            volumes.append(Volume(host_path=volume.host_path, mount_path=volume.mount_path, readonly=read_only))
        result = Component(
            image=f"{self._repository()}/{_IMAGES[name]}:{self.tag}",
            extra_args=args or None,
            extra_volumes=volumes or None,
            env={variable.name: variable.value for variable in component.environment} or None,
        )
        for index, file in enumerate(self.kubernetes.control_plane.files):
            if file.component == name.replace("_", "-"):
                content = self.ctx.content(file.content, f"{_PATH}.files[{index}].content")
                self._file(result, name, file.name, content, argument=file.argument, path=f"{_PATH}.files[{index}]")
        return result

    def _path_type(self, path_type: str, path: str, feature: str) -> None:
        """Refuse a type that makes what Talos would not make, and say of one that only checks that nothing does.

        Source: `volumes` of Talos' internal/app/machined/pkg/controllers/k8s/control_plane_static_pod.go sets no type,
        its configuration has none, and containerd makes a folder where nothing is. Kubernetes' types are those of
        HostPathType in k8s.io/api/core/v1.
        """
        if path_type == "FileOrCreate":
            why, remedy = "is a file that Talos would not make", "write it under os.files, and leave pathType out"
            self.ctx.refuse(path, feature, why, remedy=remedy)
        elif path_type in _CHECKS:
            message = "Talos does not check what is at a volume's host path: where nothing is, an empty folder is made."
            self.ctx.remark("PATH_TYPE_UNCHECKED", message, path=path)
        elif path_type not in ("", "DirectoryOrCreate"):
            self.ctx.refuse(path, feature, "is no type that Kubernetes has", remedy="choose one of its HostPathType")

    def etcd(self, authority: KeyPair) -> Etcd:
        """Give the local etcd member."""
        local = self.kubernetes.etcd.local
        path = "intent.kubernetes.etcd.local.arguments"
        args = arguments(local.arguments, "etcd", path=path, feature="kubernetes.etcd.local.arguments", ctx=self.ctx)
        default = self.kubernetes.images.repository or self.version.etcd_repository
        image = None
        if local.image_repository or local.image_tag or self.kubernetes.images.repository:
            image = f"{local.image_repository or default}/etcd:{local.image_tag or self.version.etcd_tag}"
        return Etcd(ca=authority, image=image, extra_args=args or None)

    def proxy(self) -> Addon:
        """Give kube-proxy."""
        addon = self.kubernetes.control_plane.kube_proxy
        image = f"{addon.image_repository or self._repository()}/kube-proxy:{addon.image_tag or self.tag}"
        return Addon(disabled=True if addon.disabled else None, image=image)

    def dns(self) -> Addon | None:
        """Give CoreDNS, or None for Talos' own defaults."""
        addon = self.kubernetes.control_plane.dns
        repository = addon.image_repository or self.kubernetes.images.repository
        image = None
        if repository or addon.image_tag:
            # Only in the public registry the image has a folder of its own.
            folder = repository if repository not in ("", _DEFAULT_REPOSITORY) else f"{_DEFAULT_REPOSITORY}/coredns"
            image = f"{folder}/coredns:{addon.image_tag or self.version.coredns_tag}"
        disabled = True if addon.disabled else None
        return Addon(disabled=disabled, image=image) if disabled or image else None

    def _repository(self) -> str:
        return self.kubernetes.images.repository or _DEFAULT_REPOSITORY

    def _audit(self, component: Component) -> dict[str, Any]:
        audit = self.kubernetes.control_plane.audit
        path = f"{_PATH}.audit"
        rotation = {"maxage": "max_age_days", "maxbackup": "max_backups", "maxsize": "max_size_mib"}
        for argument, name in rotation.items():
            if audit.HasField(name):  # type: ignore[arg-type]  # the stubs want a literal
                self._argument(component, f"audit-log-{argument}", str(getattr(audit, name)), f"{path}.{name}")
        self.ctx.remark(
            "AUDIT_LOG_PATH",
            "Talos writes the audit log to /var/log/audit/kube/kube-apiserver.log; no other path is possible.",
            path=path,
            severity=diagnosticpb.SEVERITY_INFO,
        )
        policy = self.ctx.content(audit.policy, f"{path}.policy")
        fields = mapping(policy, f"{path}.policy", f"{_FEATURE}.audit", self.ctx)
        if fields is None:
            return {}
        if fields.get("kind") != "Policy" or not str(fields.get("apiVersion")).startswith("audit.k8s.io/"):
            remedy = "write one document of kind Policy and apiVersion audit.k8s.io/v1"
            why = "must be a Policy of audit.k8s.io"
            self.ctx.refuse(f"{path}.policy", f"{_FEATURE}.audit", why, remedy=remedy)
        return fields

    def _webhook(self, component: Component) -> None:
        webhook = self.kubernetes.control_plane.authentication_webhook
        path = f"{_PATH}.authentication_webhook"
        prefix = "authentication-token-webhook"
        if webhook.HasField("cache_ttl"):
            self._argument(component, f"{prefix}-cache-ttl", _go_duration(webhook.cache_ttl), f"{path}.cache_ttl")
        if webhook.HasField("version"):
            self._argument(component, f"{prefix}-version", webhook.version, f"{path}.version")
        kubeconfig = self.ctx.content(webhook.kubeconfig, f"{path}.kubeconfig")
        self._file(component, "api_server", prefix, kubeconfig, argument=f"{prefix}-config-file", path=path)

    def _file(  # noqa: PLR0913  # each is a fact of its own
        self,
        component: Component,
        component_name: str,
        name: str,
        content: bytes,
        *,
        argument: str,
        path: str,
    ) -> None:
        """Have a file made and mounted.

        Components do not run as root, so it is readable by all; Talos has no other users.
        """
        folder = f"{_FILES}/{component_name.replace('_', '-')}"
        try:
            text = content.decode()
        except UnicodeDecodeError:
            why = "is not UTF-8, and Talos takes text only"
            self.ctx.refuse(path, f"{_FEATURE}.files", why, remedy="write text in UTF-8")
            return
        self.files.append(MachineFile(content=text, permissions=_READABLE, path=f"{folder}/{name}"))
        volumes = component.extra_volumes or []
        if not any(volume.host_path == folder for volume in volumes):
            component.extra_volumes = [*volumes, Volume(host_path=folder, mount_path=folder, readonly=True)]
        if argument:
            self._argument(component, argument, f"{folder}/{name}", path)

    def _argument(self, component: Component, name: str, value: str, path: str) -> None:
        component.extra_args = component.extra_args or {}
        if name in component.extra_args or any(name in denied for denied in DENIED.values()):
            why = "needs an argument that Talos sets by itself, or that is given too"
            self.ctx.refuse(path, _FEATURE, why, remedy="leave out the argument of that name, or this field")
        component.extra_args[name] = value


def _go_duration(duration: Duration) -> str:
    return f"{duration.seconds}.{duration.nanos:09d}".rstrip("0").rstrip(".") + "s"
