"""What the two formats take; both the same items."""

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CLOUDBASE_INIT, UNATTEND = "cloudbase-init", "unattend"
_FEATURES = (
    "os.files",
    "os.directories",
    "os.groups",
    "os.users",
    "os.users.gecos",
    "os.users.inactive",
    "os.hostname",
    "os.ntp",
    "os.ntp.enabled",
    "os.ntp.servers",
    "os.time_zone",
    "os.trusted_certificates",
    "plan.entrypoint",
)


def formats() -> list[provisionerpb.FormatInfo]:
    """Give the formats, the default one first."""
    cloudbase_init = provisionerpb.FormatInfo(
        format=CLOUDBASE_INIT,
        secret_format="cloud-config",  # noqa: S106 - the word that infrastructure providers know
        media_type="text/x-powershell",
        file_extension="ps1",
        accepts_gzip=True,
        verbatim=True,
    )
    unattend = provisionerpb.FormatInfo(
        format=UNATTEND,
        media_type="application/xml",
        file_extension="xml",
        emits_attachments=True,
        verbatim=True,
    )
    support = provisionerpb.FeatureSupport
    for info in (cloudbase_init, unattend):
        info.kubernetes_input = provisionerpb.KUBERNETES_INPUT_PLAN
        info.features.extend(support(id=name) for name in _FEATURES)
        # Who logs in by key has no use for a password; one that is not locked would have to be known.
        info.features.append(support(id="os.users.lock_password", allowed_values=["true"]))
        info.os_families.append(clusterpb.OS_FAMILY_WINDOWS)
        info.default_target.CopyFrom(
            clusterpb.Target(
                os_family=clusterpb.OS_FAMILY_WINDOWS, distribution="windows", os_version="2022", architecture="amd64"
            )
        )
    return [cloudbase_init, unattend]
