"""`slipway size`: what is large, and where it fits, as render has it."""

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.bootstrapper.delivery.infrastructure import infrastructures
from slipway.cli.options import INFRASTRUCTURES
from tests.services.cli.conftest import EXAMPLES, Slipway, with_worker_os

pytestmark = pytest.mark.long

AWS = EXAMPLES / "cluster-aws.yaml"


def test_every_infrastructure_can_be_chosen() -> None:
    """The option's words are the rows of the table, none more or less."""
    assert tuple(infrastructures()) == INFRASTRUCTURES


def test_sizes_are_told_by_item_and_against_every_limit(slipway: Slipway) -> None:
    """What makes the user data large stands first; where it fits only after gzip, or not at all, is said."""
    tree = json.loads(slipway("size", "-f", AWS, "-o", "json", "--machine", "lighthouse-control-plane-init").stdout)[0]
    sizes = [item["bytes"] for item in tree["items"]]
    assert sizes == sorted(sizes, reverse=True)
    assert any(item["field"].endswith("spec.kubeadmConfigSpec.files[0]") for item in tree["items"])
    assert tree["fits"]["linode"]["fits"] == "gzip"
    assert tree["fits"]["aws"]["limit"] > 16_384
    assert "secrets backend" in tree["fits"]["aws"]["why"]
    assert tree["fits"]["azure"]["fits"] == "yes"


def test_people_see_each_field_once(slipway: Slipway) -> None:
    """A field that became many items is one row with their sum; both tables say what they are of."""
    table = slipway("size", "-f", AWS, "--machine", "lighthouse-control-plane-init").stdout
    assert table.count("Slipway (through kubeadm)") == 1
    assert "Slipway (through kubeadm), 8 items" in table
    assert "in bytes of the bundle" in table
    assert "as each infrastructure counts" in table


FILE = "    files: [{{path: /var/notes.txt, content: {{data: {data}}}}}]\n"
CONTENTS = [
    (b"the same words again and again\n" * 700, "large text, that gzip makes small"),
    (base64.b64encode(random.Random(1).randbytes(30_000)), "noise, that it does not"),
]
REFUSED_OTHERWISE = {("talos", "metal")}
"""Talos asks for the disk that it is to be installed to."""


@pytest.mark.parametrize(("content", "reason"), CONTENTS, ids=[row[-1] for row in CONTENTS])
def test_size_says_what_render_does(slipway: Slipway, write: Callable[..., Path], content: bytes, reason: str) -> None:
    """For every infrastructure and format: taken as it is, compressed, or refused; one table would be wrong alone."""
    data = base64.b64encode(content).decode()
    file = write(with_worker_os(FILE.format(data=data)))
    machine = ("-f", file, "--machine", "harbour-worker", "--provisioner", "all")
    told = json.loads(slipway("size", *machine, "-o", "json").stdout)
    verdicts = {(one["provisioner"], name): fit["fits"] for one in told for name, fit in one["fits"].items()}
    assert {name for name, _ in verdicts} == {"cloud-init", "ignition", "talos"}, reason
    seen = set()
    for name in INFRASTRUCTURES:
        folder = file.parent / name
        slipway("render", *machine, "--target", name, "-o", folder)
        for entry in json.loads((folder / "summary.json").read_text()):
            if (entry["provisioner"], name) in verdicts.keys() - REFUSED_OTHERWISE:
                compressed = "gzip" if entry["file"].endswith(".gz") else "yes"
                made = compressed if entry["status"] == "rendered" else "no"
                assert verdicts[entry["provisioner"], name] == made, (entry["provisioner"], name)
                seen.add((entry["provisioner"], name))
    assert seen == verdicts.keys() - REFUSED_OTHERWISE


def test_what_is_too_large_is_refused_at_its_place(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Nobody looks for the large file by hand: the refusal has file and line, and the summary the field."""
    file = write(with_worker_os(FILE.format(data=base64.b64encode(CONTENTS[1][0]).decode())))
    machine = ("-f", file, "--machine", "harbour-worker", "--provisioner", "cloud-init", "--target", "hetzner")
    result = slipway("render", *machine, "--summary", "json")
    (entry,) = json.loads(result.stdout)
    assert [refusal["field"] for refusal in entry["refusals"]] == ["SlipwayConfig/worker: spec.os.files[0]"]
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "/var/notes.txt" in text)
    assert f"refused: {file}:{line}:" in result.stderr
    assert "machine harbour-worker has" in result.stderr


def test_a_refusal_says_whose_it_is(slipway: Slipway) -> None:
    """Where all are asked, a line without a name could be anybody's; where one is, the name says nothing."""
    machine = ("size", "-f", EXAMPLES / "native.yaml", "--machine", "harbour-worker", "--provisioner")
    refusals = [
        [line for line in slipway(*machine, name).stderr.splitlines() if line.startswith("refused: ")]
        for name in ("all", "windows")
    ]
    assert all(refusals)
    assert all(line.startswith("refused: windows: ") for line in refusals[0])
    assert [line.replace("windows: ", "", 1) for line in refusals[0]] == refusals[1]


def test_an_object_store_that_is_assumed_is_told(slipway: Slipway, write: Callable[..., Path]) -> None:
    """AWS takes more than EC2 does if user data are kept elsewhere: size and render report it where it matters."""
    noise = CONTENTS[1][0]
    small, large = (
        write(with_worker_os(FILE.format(data=base64.b64encode(noise[:size]).decode())), f"{size}.yaml")
        for size in (10, len(noise))
    )
    machine = ("--machine", "harbour-worker", "--provisioner", "ignition")
    tables = [slipway("size", "-f", file, *machine).stdout for file in (small, large)]
    assert ["S3 bucket" in table for table in tables] == [False, True]
    assert "without that it takes 16384 bytes" in tables[1]
    warned = [slipway("render", "-f", file, *machine, "--target", "aws").stderr for file in (small, large)]
    assert ["S3 bucket" in one for one in warned] == [False, True]
    assert "S3 bucket" not in slipway("render", "-f", large, *machine, "--target", "metal").stderr


def test_sizes_are_those_of_real_keys(slipway: Slipway) -> None:
    """A key is as hard to compress as it will be: what render makes is as large, to a twentieth after gzip.

    How gzip fares with keys differs by some hundred bytes from one set to the next; with placeholders by thousands.
    """
    machine = ("-f", AWS, "--machine", "lighthouse-control-plane-init", "--provisioner", "all")
    sizes = {one["provisioner"]: one for one in json.loads(slipway("size", *machine, "-o", "json").stdout)}
    for entry in json.loads(slipway("render", *machine, "--summary", "json").stdout):
        if entry["status"] == "rendered":
            told = sizes.pop(entry["provisioner"])
            assert abs(told["raw_bytes"] - entry["bytes"]) < 100
            assert abs(told["gzip_bytes"] - entry["gzip_bytes"]) < entry["gzip_bytes"] / 20
    assert not sizes


NOISE = CONTENTS[1][0]
DELIVERIES = [
    (NOISE[:10], "metal", "inline", "what is small"),
    (NOISE[:5_000], "aws", "inline", "what fits as it is"),
    (CONTENTS[0][0], "linode", "compressed", "what fits compressed alone"),
    (NOISE, "hetzner", "refused", "what does not fit at all"),
]


@pytest.mark.parametrize("row", DELIVERIES, ids=[row[-1] for row in DELIVERIES])
def test_the_delivery_has_size_and_limit(
    slipway: Slipway, write: Callable[..., Path], row: tuple[bytes, str, str, str]
) -> None:
    """The line is that of the machine's own infrastructure, as its row says; explain has the same words."""
    content, infrastructure, how, reason = row
    file = write(with_worker_os(FILE.format(data=base64.b64encode(content).decode())))
    machine = ("-f", file, "--machine", "harbour-worker", "--target", infrastructure)
    (tree,) = json.loads(slipway("size", *machine, "--provisioner", "cloud-init", "-o", "json").stdout)
    delivered, fit = tree["delivered"], tree["fits"][infrastructure]
    counted = fit["gzip"] if how == "compressed" else fit["raw"]
    assert (delivered["how"], delivered["bytes"], delivered["limit"]) == (how, counted, fit["limit"]), reason
    limit = f"bytes of at most {fit['limit']} that {infrastructure} takes"
    assert f"{counted} {limit}" in delivered["words"]
    explained = slipway("explain", *machine, "--format", "cloud-config").stdout
    word = {"inline": "inline", "compressed": "inline, compressed"}.get(how, "none")
    assert (f"  cloud-config: {word}: " in explained, limit in explained) == (how != "refused",) * 2
    assert "ignition/3.3.0: inline" not in explained
