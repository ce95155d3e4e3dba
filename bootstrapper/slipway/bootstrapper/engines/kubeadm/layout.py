"""Where the engine puts what it needs on the machine: Slipway's own places, or those of the kubeadm provider.

Source of the provider's paths: the templates of Cluster API's bootstrap/kubeadm/pkg/{cloudinit,ignition}.
"""

from dataclasses import dataclass

from slipway.bootstrapper.engines.request import GROUP_READABLE, PRIVATE
from slipway.v1alpha1 import cluster_pb2 as clusterpb

PKI_DIRECTORY = "/etc/kubernetes/pki"
RUN_PROBE = "/run/kubeadm/kubeadm.yaml"
"""Path of a file that a format takes only if files below /run outlast its start."""

_MANIFESTS = "/etc/kubernetes/manifests"
_COMPONENT_FILES = "/etc/kubernetes/slipway"
_OWN = "/etc/slipway"
_OWN_WINDOWS = "C:\\ProgramData\\slipway"


@dataclass(frozen=True)
class Layout:
    """Paths on the machine.

    Attributes:
        windows: paths have a drive and backslashes.
        config: kubeadm's configuration file.
        config_mode: its permission bits.
        leading_separator: the file begins with `---`.
        manifests: folder of static pods.
        component_files: folder of files for control-plane components.
        patches: folder of kubeadm patches, where the user names none.
    """

    windows: bool
    config: str
    config_mode: int
    leading_separator: bool
    manifests: str
    component_files: str
    patches: str

    def below(self, folder: str, *names: str) -> str:
        """Give a path below a folder."""
        separator = "\\" if self.windows and "/" not in folder else "/"
        return separator.join((folder.rstrip("/\\"), *names))


def own_layout(*, windows: bool) -> Layout:
    """Give Slipway's own layout, the same for every format."""
    own = _OWN_WINDOWS if windows else _OWN
    separator = "\\" if windows else "/"
    return Layout(
        windows=windows,
        config=f"{own}{separator}kubeadm.yaml",
        config_mode=PRIVATE,
        leading_separator=True,
        manifests=_drive(_MANIFESTS, windows=windows),
        component_files=_COMPONENT_FILES,
        patches=f"{own}{separator}kubeadm-patches",
    )


def provider_layout(*, windows: bool, keeps_run: bool, role: clusterpb.Role.ValueType) -> Layout:
    """Give the layout of the kubeadm provider, which is another one where files below /run do not outlast the start."""
    own = own_layout(windows=windows)
    if not keeps_run:
        config, mode = "/etc/kubeadm.yml", PRIVATE
    elif role == clusterpb.ROLE_INIT:
        config, mode = RUN_PROBE, GROUP_READABLE
    else:
        config, mode = "/run/kubeadm/kubeadm-join-config.yaml", GROUP_READABLE
    return Layout(
        windows=windows,
        config=_drive(config, windows=windows),
        config_mode=mode,
        leading_separator=not keeps_run or role != clusterpb.ROLE_CONTROL_PLANE,
        manifests=own.manifests,
        component_files=own.component_files,
        patches=own.patches,
    )


def _drive(path: str, *, windows: bool) -> str:
    return "C:" + path.replace("/", "\\") if windows else path
