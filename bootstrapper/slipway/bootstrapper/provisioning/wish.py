"""What is asked of a choice of provisioner, by the spec, the import and the target."""

from dataclasses import dataclass

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb


@dataclass(frozen=True, slots=True)
class Wish:
    """What the spec, the import and the target say about the choice."""

    name: str = ""
    version: str = ""
    format: str = ""
    secret_format: str = ""
    os_family: clusterpb.OsFamily.ValueType = clusterpb.OS_FAMILY_UNSPECIFIED
    infrastructure: str = ""
    plan: bool = False

    @classmethod
    def of(cls, spec: specpb.MachineBootstrapSpec, target: clusterpb.Target, *, plan: bool = False) -> "Wish":
        """Read the wish of a spec: the pin; for an imported spec without one, the format that it was written for.

        With `plan` the caller brings one, so that no format that takes intents is chosen unless it is pinned.
        """
        choice = spec.provisioner
        pinned = bool(choice.name or choice.format)
        imported = "" if pinned else spec.imported.format
        family = target.os_family
        if imported and not family:
            # A KubeadmConfig that says nothing of Windows is for Linux, as it always was.
            family = clusterpb.OS_FAMILY_LINUX
        return cls(
            choice.name, choice.version, choice.format, imported, family, target.infrastructure, plan and not pinned
        )
