"""What the format cloud-config takes natively.

What is not here is lowered, for a reason: sysctls and modules are files that cloud-init does not bring into
effect on this boot; directories and links have no module; `append` resets mode and owner of a file that
exists; downloads are not verified; NTP and trusted certificates fail in silence where the image has no
client or another tool; a group's number and an account's expiry are ignored; a swap file is made over what is there.
"""

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

FORMAT = "cloud-config"
JINJA = "cloud-init.slipway.dev/jinja"
"""Id of the language of texts that cloud-init renders on the machine: Jinja, as its templates have it."""
PARTITION_SEARCH = "cloud-init.slipway.dev/partition-search"
"""Id of the extension that has cloud-init itself look for the partition of a disk."""
ITEM = "cloud-init.slipway.dev/item"
"""Id of the extension that is an item of cloud-config, as it is written."""

# Each id with the ids below it.
_NATIVE = {
    f"ext.{ITEM}": ("",),
    f"ext.{JINJA}": ("",),
    f"ext.{PARTITION_SEARCH}": ("",),
    "os.commands": ("", ".boot", ".boot.interpreter", ".boot.interpreter.sh", ".boot.script"),
    "os.commands.boot.script.extensions": ("",),
    "os.default_user": ("", ".omit"),
    "os.files": ("", ".extensions"),
    "os.groups": ("",),
    "os.hostname": ("",),
    "os.packages": ("", ".install", ".install.version", ".upgrade"),
    "os.storage.disks": ("", ".mbr", ".overwrite", ".partitions", ".partitions.percentage", ".partitions.type"),
    "os.storage.filesystems": ("", ".label", ".options", ".overwrite", ".replace_format"),
    "os.storage.mounts": ("", ".check"),
    "os.time_zone": ("",),
    "os.users": ("", ".gecos", ".home", ".lock_password", ".no_create_home", ".password"),
    "os.users.": ("primary_group", "shell", "sudo", "system", "uid"),
    "plan.entrypoint": ("", ".commands", ".extensions"),
}


def cloud_config() -> provisionerpb.FormatInfo:
    """Give what the format is and takes."""
    supports = [provisionerpb.FeatureSupport(id=id_ + below) for id_, more in _NATIVE.items() for below in more]
    # It refreshes the index before it installs, whatever the key says.
    supports.append(provisionerpb.FeatureSupport(id="os.packages.update", allowed_values=["true"]))
    return provisionerpb.FormatInfo(
        format=FORMAT,
        secret_format=FORMAT,
        media_type="text/cloud-config",
        file_extension="yaml",
        kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
        features=sorted(supports, key=lambda support: support.id),
        # Many distributions have cloud-init: none is assumed.
        default_target=clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, architecture="amd64"),
        os_families=[clusterpb.OS_FAMILY_LINUX],
        accepts_gzip=True,
    )
