"""Explain warns of secrets that it does not count where they can matter, and nowhere else."""

import pytest

from slipway.bootstrapper.compilation.compiled import Compiled
from slipway.bootstrapper.delivery.fitting import fit
from slipway.bootstrapper.delivery.infrastructure import infrastructure
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.size_doubts import SECRET_BOUND, size_doubts
from slipway.bootstrapper.verdicts import Column
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

ENOUGH = 22_000
"""Bytes of user data that leave some room on OCI, which takes 24,000 before base64, and plenty on metal."""


def column(size: int, *, target: str, referred: int = 0, key: int = 0, gzip: bool = True) -> Column:
    """Give a format with user data of so many equal bytes, references to Secrets, and bytes of a cluster's key."""
    bundle = bundlepb.BootstrapBundle()
    bundle.machine.target.infrastructure = target
    bundle.machine.target.user_data_unchanged = target == "aws"
    for number in range(referred):
        reference = bundle.os.files.add(path=f"/srv/{number}").content.segments.add().secret_ref
        reference.name, reference.key = "one", "key"
    if referred:
        bundle.secrets.secrets.add(name="one", key="key", value=b"placeholder")
    if key:
        bundle.secrets.secrets.add(name="slipway.dev/ca", key="key", value=b"x" * key)
    info = provisionerpb.FormatInfo(format="cloud-config", accepts_gzip=gzip)
    fitted = fit(b"x" * size, bundle, row=infrastructure(bundle.machine.target), limit=0, may_compress=gzip)
    return Column(Candidate("cloud-init", "1.0.0", info, ()), compiled=Compiled(bundle), fitted=fitted)


@pytest.mark.parametrize(
    ("doubted", "near", "reason"),
    [
        (column(9000, target="aws", referred=1), False, "compressed it leaves room for more than one"),
        (column(9000, target="aws", referred=1, gzip=False), True, "a format that is never compressed does not"),
        (column(7000, target="aws", referred=1, gzip=False), False, "what is small leaves room for it as it is"),
        (column(7000, target="aws", referred=2, gzip=False), True, "each place counts, though the Secret is one"),
        (column(ENOUGH, target="oci", referred=1, gzip=False), True, "bytes in base64 are more"),
        (column(ENOUGH, target="metal", referred=8), False, "a wide limit is not reached by eight of them"),
        (column(900_000, target="metal", referred=30, gzip=False), True, "but by enough of them"),
        (column(20_000, target="cloudstack", referred=3), False, "what is compressed anyway counts so"),
        (column(20_000, target="cloudstack", referred=8), True, "and what is referred to does not compress"),
        (column(60_000, target="vsphere", referred=2, gzip=False), False, "a higher limit covers them"),
        (column(16_000, target="aws", referred=0, gzip=False), False, "without Secrets the count is exact"),
    ],
)
def test_secrets_of_the_users_are_warned_of_where_they_can_matter(doubted: Column, near: bool, reason: str) -> None:
    """A bound for each of them is what makes the user data too large; who warns of all is not heard."""
    told = [size_doubt.message for size_doubt in size_doubts([doubted])]
    assert len(told) == near, reason
    assert all(f" in cloud-config with {SECRET_BOUND} bytes in each place" in one for one in told), reason


@pytest.mark.parametrize(
    ("size", "key", "doubted", "reason"),
    [
        (30_000, 5_000, False, "compressed, with a key that does not compress, it is far below the limit"),
        (30_000, 17_000, True, "the key alone is as large as the limit"),
        (10_000, 17_000, False, "what is not compressed has its size already"),
    ],
)
def test_secrets_of_a_cluster_are_warned_of_where_compression_hides_them(
    size: int, key: int, *, doubted: bool, reason: str
) -> None:
    """Their placeholders are as long, and compress to nothing."""
    told = [size_doubt.message for size_doubt in size_doubts([column(size, target="aws", key=key)])]
    assert len(told) == doubted, reason
    assert all("in cloud-config: slipway size shows" in one for one in told), reason


def test_what_is_refused_is_not_doubted() -> None:
    """A format that gives no user data has none that are too large."""
    refused = column(9000, target="aws", referred=9, gzip=False)
    refused.fitted = None
    assert not list(size_doubts([refused]))
