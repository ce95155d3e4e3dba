"""User data fits as it is, compressed, or not at all."""

import base64
import gzip
import random

import pytest

from slipway.bootstrapper.delivery.fitting import fit
from slipway.bootstrapper.delivery.infrastructure import (
    Infrastructure,
    check_assumption,
    compress,
    infrastructure,
    infrastructures,
)
from slipway.contract.errors import UserDataTooLarge
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb

TEXT = b"the same words again and again\n" * 1000
NOISE = random.Random(1).randbytes(40_000)  # only has to be incompressible


def row(name: str, *, unchanged: bool = False, verbatim: bool = False) -> Infrastructure:
    """Return the row of an infrastructure by its name."""
    target = clusterpb.Target(infrastructure=name, user_data_unchanged=unchanged)
    return infrastructure(target, verbatim=verbatim)


AWS = row("aws", unchanged=True)


def bundle() -> bundlepb.BootstrapBundle:
    """Give a bundle with a large and a small file."""
    made = bundlepb.BootstrapBundle()
    for name, size in (("small", 10), ("large", 5000)):
        file = made.os.files.add(path=f"/etc/{name}")
        file.content.segments.add(data=b"x" * size)
        file.origin.document, file.origin.path = "SlipwayConfig/w", f"spec.os.files[{name}]"
    return made


@pytest.mark.parametrize(
    ("data", "taker", "may_compress", "encoding", "reason"),
    [
        (b"short", AWS, True, "identity", "what fits is not compressed"),
        (TEXT, AWS, True, "gzip", "text over the limit is compressed where all can take it"),
        (TEXT, row("aws"), True, "identity", "a provider that compresses itself gets no compressed user data"),
        (NOISE, row("linode"), True, "identity", "what gzip does not make small enough has the higher limit as it is"),
        (TEXT, row("linode"), True, "gzip", "the limit that always holds is preferred"),
        (TEXT * 2, row("vsphere"), True, "identity", "cloud-init's VMware data source takes text only"),
        (TEXT * 2, row("kubevirt"), True, "identity", "the provider keeps user data in a Secret, and parses them"),
        (TEXT * 2, row("cloudstack"), True, "identity", "the provider compresses by default"),
        (TEXT, row("metal"), True, "identity", "a large limit needs no compression"),
    ],
)
def test_fits(data: bytes, taker: Infrastructure, may_compress: bool, encoding: str, reason: str) -> None:
    """The strategy is inline, then gzip as a whole, then a higher limit that holds under a condition."""
    fitted = fit(data, bundle(), row=taker, limit=0, may_compress=may_compress)
    assert fitted.encoding == encoding, reason
    assert (gzip.decompress(fitted.data) if encoding == "gzip" else fitted.data) == data
    assert fitted.size.counted_bytes <= fitted.size.limit_bytes, reason


@pytest.mark.parametrize(
    ("data", "taker", "may_compress"),
    [
        (NOISE, AWS, True),
        (TEXT, AWS, False),
        (TEXT, row("aws", unchanged=True, verbatim=True), False),
        (NOISE, row("cloudstack", unchanged=True), True),
        (b"x" * 300_000, row("gcp"), True),
        (b"x" * 1_100_000, row("aws"), True),
    ],
)
def test_too_large_is_refused_with_the_breakdown(data: bytes, taker: Infrastructure, may_compress: bool) -> None:
    """The refusal names the largest item by its origin, and the numbers are in the metadata."""
    with pytest.raises(UserDataTooLarge) as caught:
        fit(data, bundle(), row=taker, limit=0, may_compress=may_compress)
    assert "SlipwayConfig/w: spec.os.files[large] has" in caught.value.violations[0].description
    assert int(caught.value.metadata["size"]) > int(caught.value.metadata["limit"])
    assert caught.value.metadata["breakdown"].startswith("SlipwayConfig/w: spec.os.files[large]=")
    assert [violation.path for violation in caught.value.violations] == ["SlipwayConfig/w: spec.os.files[large]"]


@pytest.mark.parametrize(
    ("name", "may_compress", "how"),
    [
        ("aws", True, "bytes after gzip, and the infrastructure"),
        ("aws", False, "bytes, and the infrastructure"),
        ("oci", True, "bytes after gzip and base64, and the infrastructure"),
        ("oci", False, "bytes after base64, and the infrastructure"),
    ],
)
def test_a_refusal_says_what_its_number_is_of(name: str, may_compress: bool, how: str) -> None:
    """A compressed size without a word looks like the size of the file, which it is not; the machine is named."""
    made = bundle()
    made.machine.name = "w-0"
    with pytest.raises(UserDataTooLarge) as caught:
        fit(NOISE, made, row=row(name, unchanged=True), limit=0, may_compress=may_compress)
    assert "machine w-0 has " in caught.value.violations[0].description
    assert how in caught.value.violations[0].description


def test_the_callers_limit_is_not_raised() -> None:
    """A caller that states a limit gets no user data above it, whatever the infrastructure takes under a condition."""
    with pytest.raises(UserDataTooLarge):
        fit(TEXT, bundle(), row=row("aws"), limit=100, may_compress=False)


def test_what_is_nobodys_own_is_refused_at_the_machine() -> None:
    """Where Slipway alone has made the user data there is still a place, and it is never empty."""
    made = bundlepb.BootstrapBundle()
    made.os.files.add(path="/etc/a").origin.made_by.append("runner")
    with pytest.raises(UserDataTooLarge) as caught:
        fit(NOISE, made, row=AWS, limit=0, may_compress=True)
    assert [violation.path for violation in caught.value.violations] == ["machine"]


def test_bytes_are_counted_as_the_infrastructure_counts() -> None:
    """Raw, encoded, and compressed and encoded."""
    assert row("aws").count(TEXT) == len(TEXT)
    assert row("vsphere").count(TEXT) == len(base64.b64encode(TEXT))
    assert row("cloudstack").count(TEXT) == len(base64.b64encode(compress(TEXT)))


@pytest.mark.parametrize(
    ("target", "verbatim", "counted", "warned", "reason"),
    [
        (clusterpb.Target(infrastructure="aws"), False, 16_384, False, "the limit that always holds is kept"),
        (clusterpb.Target(infrastructure="aws"), False, 16_385, True, "more than EC2 takes needs a secrets backend"),
        (clusterpb.Target(infrastructure="aws"), True, 16_385, False, "a verbatim format never takes that way"),
        (clusterpb.Target(infrastructure="metal"), False, 16_385, False, "no condition, no warning"),
    ],
)
def test_a_condition_is_a_warning(
    target: clusterpb.Target, verbatim: bool, counted: int, warned: bool, reason: str
) -> None:
    """User data that need a higher limit come with its condition and with what holds without it."""
    warnings = check_assumption(target, verbatim=verbatim, counted=counted)
    assert len(warnings) == warned, reason
    assert all("secrets backend" in warning.message and "16384" in warning.message for warning in warnings)


def test_compression_depends_on_the_input_alone() -> None:
    """No time in the header: the same bytes whenever it runs."""
    assert compress(TEXT)[4:8] == b"\0\0\0\0"


def test_every_row_names_its_source() -> None:
    """A limit without a source is a guess."""
    assert all(one.source for one in infrastructures().values())
    assert all(one.when_unchanged() for one in infrastructures().values())
