"""Files that control-plane components read: on the machine, mounted into the pod, named by an argument.

kubeadm runs the components as static pods, so that a file alone is not enough. Audit policy, encryption,
authentication webhook and the user's own component files all take this one way.
"""

import posixpath
from dataclasses import dataclass, field

from slipway.bootstrapper.engines.kubeadm.documents.parts import HostPathMount
from slipway.bootstrapper.engines.kubeadm.documents.spliced import Text
from slipway.bootstrapper.engines.kubeadm.durations import go_duration
from slipway.bootstrapper.engines.kubeadm.layout import PRIVATE
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest, root_file
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1.content_pb2 import Content

API_SERVER = "api-server"
CONTROLLER_MANAGER = "controller-manager"
SCHEDULER = "scheduler"

_AUDIT_LOG = "/var/log/kubernetes/audit/audit.log"


@dataclass
class ComponentFiles:
    """What the files of the components come to.

    Attributes:
        files: the files themselves; every control-plane machine has them.
        arguments: by component, the arguments that name them.
        mounts: by component, what makes them visible.
    """

    files: list[ospb.File] = field(default_factory=list)
    arguments: dict[str, dict[str, Text]] = field(default_factory=dict)
    mounts: dict[str, list[HostPathMount]] = field(default_factory=dict)

    def argument(self, component: str, name: str, value: Text) -> None:
        """Set an argument of a component."""
        self.arguments.setdefault(component, {})[name] = value

    def mount(self, component: str, mount: HostPathMount) -> None:
        """Mount something into a component."""
        self.mounts.setdefault(component, []).append(mount)


def component_files(request: EngineRequest) -> ComponentFiles:
    """Give the files of the control plane's components, with arguments and mounts."""
    made = ComponentFiles()
    control_plane = request.kubernetes.control_plane
    if control_plane.HasField("audit"):
        _audit(request, made, control_plane.audit)
    if control_plane.HasField("encryption"):
        path = _file(request, made, API_SERVER, "encryption-configuration", control_plane.encryption.configuration)
        made.argument(API_SERVER, "encryption-provider-config", path)
    if control_plane.HasField("authentication_webhook"):
        _webhook(request, made, control_plane.authentication_webhook)
    for file in control_plane.files:
        path = _file(request, made, file.component, file.name, file.content)
        if file.argument:
            made.argument(file.component, file.argument, path)
    return made


def _audit(request: EngineRequest, made: ComponentFiles, audit: kubernetespb.Audit) -> None:
    made.argument(API_SERVER, "audit-policy-file", _file(request, made, API_SERVER, "audit-policy", audit.policy))
    log = audit.log_path or _AUDIT_LOG
    made.argument(API_SERVER, "audit-log-path", log)
    if audit.HasField("max_age_days"):
        made.argument(API_SERVER, "audit-log-maxage", str(audit.max_age_days))
    if audit.HasField("max_backups"):
        made.argument(API_SERVER, "audit-log-maxbackup", str(audit.max_backups))
    if audit.HasField("max_size_mib"):
        made.argument(API_SERVER, "audit-log-maxsize", str(audit.max_size_mib))
    folder = posixpath.dirname(log)
    made.mount(
        API_SERVER,
        HostPathMount(name="slipway-audit-log", host_path=folder, mount_path=folder, path_type="DirectoryOrCreate"),
    )


def _webhook(request: EngineRequest, made: ComponentFiles, webhook: kubernetespb.AuthenticationWebhook) -> None:
    path = _file(request, made, API_SERVER, "authentication-webhook", webhook.kubeconfig)
    made.argument(API_SERVER, "authentication-token-webhook-config-file", path)
    if webhook.HasField("cache_ttl"):
        made.argument(API_SERVER, "authentication-token-webhook-cache-ttl", go_duration(webhook.cache_ttl))
    if webhook.version:
        made.argument(API_SERVER, "authentication-token-webhook-version", webhook.version)


def _file(request: EngineRequest, made: ComponentFiles, component: str, name: str, content: Content) -> str:
    """Add a file that only root can read, as the components run as root, and its mount; give its path."""
    path = request.layout.below(request.layout.component_files, component, name)
    source = request.kubernetes.control_plane.origin
    made.files.append(root_file(path, content, mode=PRIVATE, source=source))
    made.mount(
        component,
        HostPathMount(name=f"slipway-{name}", host_path=path, mount_path=path, read_only=True, path_type="File"),
    )
    return path
