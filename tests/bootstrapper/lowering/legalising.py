"""Bundles in text form, legalised: what the tests of legalisation begin with."""

from collections.abc import Iterable

from google.protobuf import text_format

from bootstrapper.lowering.draft import Draft
from bootstrapper.lowering.legalise import legalise
from bootstrapper.lowering.passes import PassTable
from bootstrapper.lowering.table import all_passes
from bootstrapper.lowering.work import Legalised
from bootstrapper.os_profiles import ProfileTable
from services.contract.errors import Violation
from services.contract.walk import items
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

LINUX = clusterpb.OS_FAMILY_LINUX
EVERYTHING_BUT = {
    "os.directories",
    "os.files",
    "os.files.append",
    "os.groups",
    "os.links",
    "os.links.hard",
    "os.storage.disks",
    "os.storage.filesystems",
    "os.storage.mounts",
    "os.storage.swap",
    "os.users",
    "os.users.home",
    "os.users.primary_group",
    "plan.entrypoint",
}


def supports(ids: Iterable[str]) -> list[provisionerpb.FeatureSupport]:
    """Declare features."""
    return [provisionerpb.FeatureSupport(id=id_) for id_ in ids]


def written(bundle: bundlepb.BootstrapBundle) -> bundlepb.BootstrapBundle:
    """Give every item the origin that a reader of documents would."""
    for item in items(bundle):
        item.message.origin.document = "SlipwayConfig/test"
        item.message.origin.path = f"spec.{item.path}"
    return bundle


def work(  # noqa: PLR0913  # keyword-only, each with a default
    bundle: bundlepb.BootstrapBundle,
    declares: Iterable[str],
    *,
    table: PassTable | None = None,
    optional: Iterable[str] = (),
    rejected: Iterable[Violation] = (),
    distribution: str = "debian",
) -> tuple[Draft, Legalised]:
    """Legalise a bundle; `table` None means the real passes."""
    family = clusterpb.OS_FAMILY_WINDOWS if distribution == "windows" else LINUX
    target = clusterpb.Target(os_family=family, distribution=distribution, infrastructure="aws")
    draft = Draft(written(bundle), ProfileTable.shipped().find(target), target)
    result = legalise(
        draft,
        supports(declares),
        table=all_passes() if table is None else table,
        optional_features=frozenset(optional),
        rejected={one.path: one for one in rejected},
    )
    return draft, result


def text(message: str) -> bundlepb.BootstrapBundle:
    """Read a bundle's operating system in protobuf's text form."""
    return bundlepb.BootstrapBundle(os=text_format.Parse(message, ospb.OperatingSystem()))


ROOTS = 'owner: "root" group: "root"'
