"""Remarks on words of a foreign plan's request that are valid, and that nothing here knows: they may be misspelt."""

from collections.abc import Iterator

from slipway.bootstrapper.delivery.infrastructure import infrastructures
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb


def remarks(spec: provisioningpb.ProvisioningSpec, profiles: ProfileTable) -> Iterator[diagnosticpb.Diagnostic]:
    """Give a warning for each unknown optional feature or infrastructure, and for a distribution of another family."""
    for index, name in enumerate(spec.optional_features):
        if name not in feature_names() and not name.startswith("ext."):
            message = "is the name of no feature that this server knows, so it allows nothing to be left out"
            yield _warning("OPTIONAL_FEATURE_UNKNOWN", f"spec.optionalFeatures[{index}]", message)
    target = spec.target
    if target.infrastructure and target.infrastructure not in infrastructures():
        message = "is no infrastructure that this server knows: how much user data it takes is not known either"
        yield _warning("INFRASTRUCTURE_UNKNOWN", "spec.target.infrastructure", message)
    family = profiles.family(target.distribution)
    if clusterpb.OS_FAMILY_UNSPECIFIED not in {family, target.os_family} and family != target.os_family:
        message = "is a distribution of another family of operating systems than osFamily says"
        yield _warning("DISTRIBUTION_DOUBTED", "spec.target.distribution", message)


def _warning(code: str, path: str, message: str) -> diagnosticpb.Diagnostic:
    return diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_WARNING,
        code=code,
        message=f"{path} {message}",
        field_path=path.replace("spec.target", "machine.target") if "target" in path else "",
        origin=diagnosticpb.Origin(path=path),
    )
