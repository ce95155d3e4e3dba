"""Bundles in text form, legalised: what the tests of legalisation begin with."""

from collections.abc import Iterable
from dataclasses import dataclass

from google.protobuf import text_format

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.legalise import legalise
from slipway.bootstrapper.lowering.passes import PassTable
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.lowering.work import Legalised
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.contract.errors import Violation
from slipway.contract.items import items
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


@dataclass(frozen=True)
class Format:
    """What legalisation works for: a format's features, the distribution, the passes; and what the spec allows."""

    declares: Iterable[str]
    distribution: str = "debian"
    table: PassTable | None = None
    """None means the real passes."""
    optional: Iterable[str] = ()
    rejected: Iterable[Violation] = ()


def work(bundle: bundlepb.BootstrapBundle, declares: Iterable[str] | Format) -> tuple[Draft, Legalised]:
    """Legalise a bundle for a format, or for one of whom its features say all."""
    of = declares if isinstance(declares, Format) else Format(declares)
    family = clusterpb.OS_FAMILY_WINDOWS if of.distribution == "windows" else LINUX
    target = clusterpb.Target(os_family=family, distribution=of.distribution, infrastructure="aws")
    draft = Draft(written(bundle), ProfileTable.shipped().find(target), target)
    result = legalise(
        draft,
        supports(of.declares),
        table=all_passes() if of.table is None else of.table,
        optional_features=frozenset(of.optional),
        rejected={one.path: one for one in of.rejected},
    )
    return draft, result


def text(message: str) -> bundlepb.BootstrapBundle:
    """Read a bundle's operating system in protobuf's text form."""
    return bundlepb.BootstrapBundle(os=text_format.Parse(message, ospb.OperatingSystem()))


ROOTS = 'owner: "root" group: "root"'
