"""What the Ignition formats take natively.

What is not here is lowered to files and units: it needs a command on the running system (packages, time zone, swap
files), or Ignition has no word for it (an account's expiry, percentages of a disk, boot commands).
"""

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

EXTENSION = "ignition.slipway.dev/config"
SPECS = ("3.3.0", "3.4.0", "2.3.0")

# Each id with the ids below it.
_NATIVE = {
    f"ext.{EXTENSION}": ("",),
    "os.default_user": ("",),
    "os.directories": ("",),
    "os.files": ("", ".append", ".remote", ".remote.sha512"),
    "os.groups": ("", ".gid", ".system"),
    "os.hostname": ("",),
    "os.links": ("", ".hard"),
    "os.storage.disks": ("", ".overwrite", ".partitions", ".partitions.label", ".partitions.size"),
    "os.storage.disks.partitions.type": ("",),
    "os.storage.filesystems": ("", ".label", ".options", ".overwrite"),
    "os.storage.mounts": ("", ".check"),
    "os.systemd.units": ("", ".contents", ".drop_ins", ".enabled", ".masked"),
    "os.users": ("", ".gecos", ".home", ".lock_password", ".no_create_home", ".password"),
    "os.users.": ("primary_group", "shell", "sudo", "system", "uid"),
    "plan.entrypoint": ("", ".after_units", ".drop_ins"),
}
_WITH_PATHS = frozenset({"os.directories", "os.files", "os.links"})
# Ignition writes below the root of the system before systemd mounts these, so what it writes there is hidden:
# systemd.io/API_FILE_SYSTEMS and file-hierarchy(7). /var/run is a link to /run.
_MOUNTED_OVER = ("/dev/", "/proc/", "/run/", "/sys/", "/var/run/")
# Spec 2 has certificate authorities as well, but machines of its time read only the first of a bundle.
_REMOTE_CA = ("os.files.remote.ca",)
_KERNEL_ARGUMENTS = ("os.kernel.arguments", "os.kernel.arguments.absent")
# Only the values that mean what Ignition does anyway.
_ALLOWED = {
    "os.storage.disks.partitions.percentage": "100",
}


def formats() -> list[provisionerpb.FormatInfo]:
    """Give all formats, the default one first."""
    return [_format(spec) for spec in SPECS]


def _format(spec: str) -> provisionerpb.FormatInfo:
    ids = [prefix + below for prefix, more in _NATIVE.items() for below in more]
    if spec.startswith("3."):
        ids += [*_KERNEL_ARGUMENTS, *_REMOTE_CA]
    supports = [
        provisionerpb.FeatureSupport(id=id_, excluded_path_prefixes=_MOUNTED_OVER if id_ in _WITH_PATHS else ())
        for id_ in ids
    ]
    supports += [provisionerpb.FeatureSupport(id=id_, allowed_values=[value]) for id_, value in _ALLOWED.items()]
    return provisionerpb.FormatInfo(
        format=f"ignition/{spec}",
        secret_format="ignition",  # noqa: S106  # a format's name
        media_type="application/vnd.coreos.ignition+json",
        file_extension="ign",
        kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
        features=sorted(supports, key=lambda support: support.id),
        # Several distributions have Ignition: none is assumed.
        default_target=clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, architecture="amd64"),
        os_families=[clusterpb.OS_FAMILY_LINUX],
    )
