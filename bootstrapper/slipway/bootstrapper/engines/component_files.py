"""Files that control-plane components read, and the arguments that name them.

Audit policy, encryption, authentication webhook and the user's own component files all take this one way. Where an
engine runs the components in pods, it makes the paths visible there as well.
"""

import posixpath
from dataclasses import dataclass, field

from slipway.bootstrapper.engines.durations import go_duration
from slipway.bootstrapper.engines.request import PRIVATE, PlanRequest, root_file
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1.content_pb2 import Content

API_SERVER = "api-server"
CONTROLLER_MANAGER = "controller-manager"
SCHEDULER = "scheduler"

_AUDIT_LOG = "/var/log/kubernetes/audit/audit.log"


@dataclass(frozen=True, slots=True)
class NeededPath:
    """A path of the machine that a component uses: a file that it reads, or a folder that it writes to."""

    component: str
    name: str
    path: str
    folder: bool = False

    @property
    def type(self) -> str:
        """Type of the volume of a static pod that shows the path."""
        return "DirectoryOrCreate" if self.folder else "File"


@dataclass
class ComponentFiles:
    """What the files of the components come to.

    Attributes:
        files: the files themselves; every control-plane machine has them.
        arguments: by component, the arguments that name them.
        paths: what the components must see of the machine.
    """

    files: list[ospb.File] = field(default_factory=list)
    arguments: dict[str, dict[str, str]] = field(default_factory=dict)
    paths: list[NeededPath] = field(default_factory=list)

    def argument(self, component: str, name: str, value: str) -> None:
        """Set an argument of a component."""
        self.arguments.setdefault(component, {})[name] = value


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the files of one machine; `engine` makes them, and they lie in folders of the components in `folder`."""

    request: PlanRequest
    engine: str
    folder: str
    made: ComponentFiles


def component_files(request: PlanRequest, *, engine: str, folder: str) -> ComponentFiles:
    """Give the files of the control plane's components, with their arguments."""
    made = ComponentFiles()
    maker = _Maker(request, engine, folder, made)
    control_plane = request.kubernetes.control_plane
    if control_plane.HasField("audit"):
        _audit(maker, control_plane.audit)
    if control_plane.HasField("encryption"):
        path = _file(maker, API_SERVER, "encryption-configuration", control_plane.encryption.configuration)
        made.argument(API_SERVER, "encryption-provider-config", path)
    if control_plane.HasField("authentication_webhook"):
        _webhook(maker, control_plane.authentication_webhook)
    for file in control_plane.files:
        path = _file(maker, file.component, file.name, file.content)
        if file.argument:
            made.argument(file.component, file.argument, path)
    return made


def _audit(maker: _Maker, audit: kubernetespb.Audit) -> None:
    maker.made.argument(API_SERVER, "audit-policy-file", _file(maker, API_SERVER, "audit-policy", audit.policy))
    log = audit.log_path or _AUDIT_LOG
    maker.made.argument(API_SERVER, "audit-log-path", log)
    if audit.HasField("max_age_days"):
        maker.made.argument(API_SERVER, "audit-log-maxage", str(audit.max_age_days))
    if audit.HasField("max_backups"):
        maker.made.argument(API_SERVER, "audit-log-maxbackup", str(audit.max_backups))
    if audit.HasField("max_size_mib"):
        maker.made.argument(API_SERVER, "audit-log-maxsize", str(audit.max_size_mib))
    folder = posixpath.dirname(log)
    maker.made.paths.append(NeededPath(API_SERVER, "slipway-audit-log", folder, folder=True))


def _webhook(maker: _Maker, webhook: kubernetespb.AuthenticationWebhook) -> None:
    path = _file(maker, API_SERVER, "authentication-webhook", webhook.kubeconfig)
    maker.made.argument(API_SERVER, "authentication-token-webhook-config-file", path)
    if webhook.HasField("cache_ttl"):
        maker.made.argument(API_SERVER, "authentication-token-webhook-cache-ttl", go_duration(webhook.cache_ttl))
    if webhook.version:
        maker.made.argument(API_SERVER, "authentication-token-webhook-version", webhook.version)


def _file(maker: _Maker, component: str, name: str, content: Content) -> str:
    """Add a file that only root can read, as the components run as root; give its path."""
    path = posixpath.join(maker.folder, component, name)
    source = maker.request.kubernetes.control_plane.origin
    maker.made.files.append(root_file(path, content, mode=PRIVATE, made_by=maker.engine, source=source))
    maker.made.paths.append(NeededPath(component, f"slipway-{name}", path))
    return path
