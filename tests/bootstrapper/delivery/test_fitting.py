"""User data fits as it is, compressed, or not at all."""

import base64
import gzip
import random

import pytest

from bootstrapper.delivery.compression import compress
from bootstrapper.delivery.fitting import fit
from bootstrapper.delivery.infrastructure import infrastructure, infrastructures
from services.contract.errors import UserDataTooLarge
from slipway.v1alpha1 import bundle_pb2 as bundlepb

TEXT = b"the same words again and again\n" * 1000
NOISE = random.Random(1).randbytes(20_000)  # only has to be incompressible


def bundle() -> bundlepb.BootstrapBundle:
    """Give a bundle with a large and a small file."""
    made = bundlepb.BootstrapBundle()
    for name, size in (("small", 10), ("large", 5000)):
        file = made.os.files.add(path=f"/etc/{name}")
        file.content.segments.add(data=b"x" * size)
        file.origin.document, file.origin.path = "SlipwayConfig/w", f"spec.os.files[{name}]"
    return made


@pytest.mark.parametrize(
    ("data", "name", "may_compress", "encoding", "reason"),
    [
        (b"short", "aws", True, "identity", "what fits is not compressed"),
        (TEXT, "aws", True, "gzip", "text over the limit is compressed where all can take it"),
        (TEXT, "metal", True, "identity", "a large limit needs no compression"),
    ],
)
def test_fits(data: bytes, name: str, may_compress: bool, encoding: str, reason: str) -> None:
    """The strategy is inline, then gzip as a whole."""
    fitted = fit(data, bundle(), row=infrastructure(name), limit=0, may_compress=may_compress)
    assert fitted.encoding == encoding, reason
    assert (gzip.decompress(fitted.data) if encoding == "gzip" else fitted.data) == data


@pytest.mark.parametrize(
    ("data", "name", "may_compress"),
    [(NOISE, "aws", True), (TEXT, "aws", False), (NOISE, "kubevirt", True), (b"x" * 300_000, "gcp", True)],
)
def test_too_large_is_refused_with_the_breakdown(data: bytes, name: str, may_compress: bool) -> None:
    """The refusal names the largest item by its origin, and the numbers are in the metadata."""
    with pytest.raises(UserDataTooLarge) as caught:
        fit(data, bundle(), row=infrastructure(name), limit=0, may_compress=may_compress)
    assert "SlipwayConfig/w: spec.os.files[large] has" in caught.value.violations[0].description
    assert int(caught.value.metadata["size"]) > int(caught.value.metadata["limit"])
    assert caught.value.metadata["breakdown"].startswith("os.files[1]=")
    assert [one.path for one in caught.value.violations] == ["SlipwayConfig/w: spec.os.files[large]"]


@pytest.mark.parametrize(
    ("name", "may_compress", "how"),
    [
        ("aws", True, "bytes after gzip, and the infrastructure"),
        ("aws", False, "bytes, and the infrastructure"),
        ("kubevirt", True, "bytes after gzip and base64, and the infrastructure"),
        ("kubevirt", False, "bytes after base64, and the infrastructure"),
    ],
)
def test_a_refusal_says_what_its_number_is_of(name: str, may_compress: bool, how: str) -> None:
    """A compressed size without a word looks like the size of the file, which it is not; the machine is named."""
    made = bundle()
    made.machine.name = "w-0"
    with pytest.raises(UserDataTooLarge) as caught:
        fit(NOISE, made, row=infrastructure(name), limit=0, may_compress=may_compress)
    assert "machine w-0 has " in caught.value.violations[0].description
    assert how in caught.value.violations[0].description


def test_what_is_nobodys_own_is_refused_at_the_machine() -> None:
    """Where Slipway alone has made the user data there is still a place, and it is never empty."""
    made = bundlepb.BootstrapBundle()
    made.os.files.add(path="/etc/a").origin.made_by.append("runner")
    with pytest.raises(UserDataTooLarge) as caught:
        fit(NOISE, made, row=infrastructure("aws"), limit=0, may_compress=True)
    assert [one.path for one in caught.value.violations] == ["machine"]


def test_bytes_are_counted_as_the_infrastructure_counts() -> None:
    """Raw, encoded, and compressed and encoded."""
    assert infrastructure("aws").count(TEXT) == len(TEXT)
    assert infrastructure("azure").count(TEXT) == len(base64.b64encode(TEXT))
    assert infrastructure("vsphere").count(TEXT) == len(base64.b64encode(compress(TEXT)))


def test_ignition_on_aws_has_another_limit() -> None:
    """The provider keeps Ignition in its object store; EC2's own limit does not bind it."""
    assert infrastructure("aws", secret_format="ignition").limit_bytes > infrastructure("aws").limit_bytes


def test_compression_depends_on_the_input_alone() -> None:
    """No time in the header: the same bytes whenever it runs."""
    assert compress(TEXT)[4:8] == b"\0\0\0\0"


def test_every_row_names_its_source() -> None:
    """A limit without a source is a guess."""
    assert all(row.source for row in infrastructures().values())
