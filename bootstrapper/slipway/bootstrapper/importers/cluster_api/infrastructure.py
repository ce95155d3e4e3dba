"""Infrastructure objects belong to other projects; their kind says where a machine runs, a field or two its system."""

import re

from slipway.bootstrapper.importers.cluster_api.kinds import InfrastructureMachine, InfrastructureSpec, Reference
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from slipway.bootstrapper.os_profiles.profile_table import DISTRIBUTION
from slipway.contract.source_position import FieldPath, SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_PREFIXES = {
    "AWS": "aws",
    "Azure": "azure",
    "GCP": "gcp",
    "OpenStack": "openstack",
    "VSphere": "vsphere",
    "CloudStack": "cloudstack",
    "Kubevirt": "kubevirt",
    "KubeVirt": "kubevirt",
    "Docker": "docker",
    "Dev": "docker",
    "Metal3": "metal",
    "HCloud": "hetzner",
    "HetznerBareMetal": "hetzner-bare-metal",
    "Linode": "linode",
    "Nutanix": "nutanix",
    "OCI": "oci",
    "Proxmox": "proxmox",
    "Packet": "equinix",
    "Tinkerbell": "tinkerbell",
}
_BASE_OS = re.compile(r"(?P<distribution>[a-z][a-z-]*?)(?:-(?P<version>[0-9][0-9.]*))?(?:-(?:stable|beta|alpha|lts))?")
_OS_RELEASE = re.compile(r"(?P<id>[a-z0-9._-]{1,64})(?: +(?P<version>[a-z0-9._-]{1,64}))?")
# Where annotations of the configs that are made of an object stand, and those of a config itself.
_METADATA = tuple(
    (*path, "metadata", "annotations") for path in ((), ("spec", "template"), ("spec", "machineTemplate"))
)
_DISTRIBUTIONS = {"amazon": "amzn", "al": "amzn"}
# Where the machine's own fields stand in machine templates, pools and machines of the providers.
_MACHINES = (("spec", "template", "spec"), ("spec", "awsLaunchTemplate"), ("spec", "template"), ("spec",))


def infrastructure_of(kind: str) -> str:
    """Give the infrastructure that a kind belongs to, or ""."""
    return next((name for prefix, name in _PREFIXES.items() if re.match(rf"{prefix}[A-Z]", kind)), "")


def target(
    objects: ManifestObjects,
    reference: Reference | None,
    *,
    near: ManifestObject,
    made_from: ManifestObject | None = None,
) -> clusterpb.Target:
    """Give what is known of a machine from the infrastructure object that it refers to, or that `made_from` is."""
    result = clusterpb.Target()
    if reference is None:
        return result
    name = infrastructure_of(reference.kind)
    if name:
        result.infrastructure = name
    machine = made_from or objects.referred(reference, near=near)
    if machine is not None:
        _set_system(machine, result)
    return result


def set_distribution(machine: clusterpb.Target, text: str) -> None:
    """Set the distribution that an annotation states: ID of os-release, and VERSION_ID behind a blank.

    Raises:
        ValueError: it is neither.
    """
    match = _OS_RELEASE.fullmatch(text.strip())
    if match is None:
        raise ValueError("must be the ID of os-release, with VERSION_ID behind a blank if need be, such as rhel 9.4")
    machine.distribution = match["id"]
    machine.ClearField("os_version")
    if match["version"]:
        machine.os_version = match["version"]


def annotated_distribution(each: ManifestObject) -> tuple[FieldPath, str] | None:
    """Give what an object that holds a config states of its machines' distribution, and where."""
    for path in _METADATA:
        annotations = each.part(*path)
        if isinstance(annotations, dict) and isinstance(annotations.get(DISTRIBUTION), str):
            return (*path, DISTRIBUTION), annotations[DISTRIBUTION]
    return None


def _set_system(machine: ManifestObject, result: clusterpb.Target) -> None:
    for path in _MACHINES:
        if not isinstance(machine.part(*path), dict):
            continue
        try:
            hints = machine.read(InfrastructureMachine, *path)
        except SourceError:
            # Another project's fields, in a form that is not known here: they tell nothing.
            continue
        if _is_passed_on(hints, result.infrastructure):
            result.user_data_unchanged = True
        if "Windows" in (hints.os, hints.os_disk.os_type):
            result.os_family = clusterpb.OS_FAMILY_WINDOWS
            return
        if hints.os == "Linux" or hints.os_disk.os_type == "Linux":
            result.os_family = clusterpb.OS_FAMILY_LINUX
        match = _BASE_OS.fullmatch(hints.image_lookup_base_os)
        if match and match["distribution"].startswith("windows"):
            result.os_family = clusterpb.OS_FAMILY_WINDOWS
        elif match:
            result.os_family = clusterpb.OS_FAMILY_LINUX
            result.distribution = _DISTRIBUTIONS.get(match["distribution"], match["distribution"])
            if match["version"]:
                result.os_version = match["version"]


def _is_passed_on(machine: InfrastructureMachine, infrastructure: str) -> bool:
    """Report whether the settings of a machine make its provider pass user data on as they are.

    Source: resolveUserData of Cluster API Provider AWS, CompressUserdata of Cluster API Provider CloudStack.
    """
    if infrastructure == "aws" and machine.ignition is not None:
        return machine.ignition.storage_type == "UnencryptedUserData"
    if infrastructure == "aws":
        return machine.cloud_init.insecure_skip_secrets_manager and machine.uncompressed_user_data is not False
    return infrastructure == "cloudstack" and machine.uncompressed_user_data is True


def endpoint_of(cluster: ManifestObject) -> clusterpb.Endpoint | None:
    """Give the endpoint that an infrastructure's cluster names, if it does."""
    try:
        endpoint = cluster.read(InfrastructureSpec, "spec").control_plane_endpoint
    except SourceError:
        return None
    if endpoint is None or not endpoint.host:
        return None
    return clusterpb.Endpoint(host=endpoint.host, port=endpoint.port or None)
