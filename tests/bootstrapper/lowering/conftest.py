"""What every test of a pass needs: a bundle lowered for the smallest provisioner that there may be."""

from collections.abc import Iterable, Mapping, Sequence

import pytest

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.legalise import legalise
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import OsProfile, ProfileTable
from slipway.contract.items import items
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.bootstrapper.lowering.lowered_systems import LEAST, Lowered, LowerSystem

_FAMILIES = {"windows": clusterpb.OS_FAMILY_WINDOWS}


@pytest.fixture(scope="session")
def profiles() -> ProfileTable:
    """The shipped profiles."""
    return ProfileTable.shipped()


@pytest.fixture(scope="session")
def lower(profiles: ProfileTable) -> LowerSystem:
    """A function that lowers an operating system, or boot commands, for a provisioner of the smallest kind."""

    def lower_system(  # noqa: PLR0913  # keyword-only, each with a default
        system: ospb.OperatingSystem | None = None,
        *,
        boot: Sequence[planpb.Command] = (),
        distribution: str = "debian",
        version: str = "",
        declares: Iterable[str] = LEAST,
        optional_features: Iterable[str] = (),
        without: str = "",
        changes: Mapping[str, object] | None = None,
    ) -> Lowered:
        bundle = bundlepb.BootstrapBundle(id="bundle-1", os=system)
        bundle.plan.entrypoint.unit_name = "slipway-bootstrap.service"
        if boot:
            bundle.commands.boot.extend(boot)
        for item in items(bundle):
            item.message.origin.document = "SlipwayConfig/test"
            item.message.origin.path = f"spec.{item.path}"
        family = _FAMILIES.get(distribution, clusterpb.OS_FAMILY_LINUX)
        target = clusterpb.Target(os_family=family, distribution=distribution, os_version=version, infrastructure="aws")
        profile = profiles.find(target)
        if without:
            profile = profile.model_copy(update={without: type(profile).model_fields[without].default})
        if changes:
            profile = OsProfile.model_validate({**profile.model_dump(), **changes})
        draft = Draft(bundle, profile, target)
        supports = [provisionerpb.FeatureSupport(id=id_) for id_ in declares]
        result = legalise(draft, supports, table=all_passes(), optional_features=frozenset(optional_features))
        return Lowered(draft, result)

    return lower_system
