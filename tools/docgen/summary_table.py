"""The table of README.md: what each provisioner does with each kind of item, on one screen."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.passes import PassTable
from slipway.bootstrapper.lowering.table import all_passes
from slipway.embedded.provisioners import own_provisioners
from slipway.sdk import Provisioner
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tools.docgen.markdown import table

_BEGIN, _END = "<!-- made by `make docs`: begin -->\n", "\n<!-- made by `make docs`: end -->"
_ROWS = {
    "files": "os.files",
    "files, appended to": "os.files.append",
    "files, downloaded": "os.files.remote",
    "directories": "os.directories",
    "links": "os.links",
    "users": "os.users",
    "groups": "os.groups",
    "disks, filesystems": "os.storage.disks",
    "mounts": "os.storage.mounts",
    "swap": "os.storage.swap",
    "systemd units": "os.systemd.units",
    "sysctls": "os.sysctls",
    "kernel modules": "os.kernel.modules",
    "kernel arguments": "os.kernel.arguments",
    "host name": "os.hostname",
    "time servers": "os.ntp",
    "time zone": "os.time_zone",
    "proxies": "os.proxy",
    "trusted CAs": "os.trusted_certificates",
    "packages": "os.packages",
    "containerd": "os.containerd",
    "membership in a domain": "os.directory",
    "commands on every boot": "os.commands.boot",
    "commands before and after the bootstrap": "os.commands.pre",
    "static pods": "kubernetes.static_pods",
    "control plane": "kubernetes.role.init",
    "worker": "kubernetes.role.worker",
}


def filled(readme: str) -> str:
    """Give README.md with the table between its marks.

    Raises:
        ValueError: the marks are not there.
    """
    before, begin, rest = readme.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError("README.md has no place for the table of provisioners")
    return before + begin + summary_table() + end + after


def summary_table() -> str:
    """Give the table."""
    found = own_provisioners()
    rows = [[name, *(_verdict(id_, one) for one in found)] for name, id_ in _ROWS.items()]
    return table(["", *(one.name for one in found)], rows)


def _verdict(feature: str, provisioner: Provisioner) -> str:
    default = provisioner.formats()[0]
    own = next((one for one in default.features if one.id == feature), None)
    if own is not None:
        return f"native, below {', '.join(own.path_prefixes)}" if own.path_prefixes else "native"
    if default.kubernetes_input == provisionerpb.KUBERNETES_INPUT_INTENT:
        return "refused"
    return "lowered" if _lowered(feature, default.os_families, all_passes()) else "refused"


def _lowered(feature: str, families: Sequence[clusterpb.OsFamily.ValueType], passes: PassTable) -> bool:
    if feature.startswith("kubernetes.role") and clusterpb.OS_FAMILY_WINDOWS in families:
        return feature.endswith(".worker")
    if feature.startswith(("kubernetes.", "os.commands.pre")):
        return True
    return any(
        passes.find(feature.removesuffix(".append").removesuffix(".remote"), one) is not None for one in families
    )
