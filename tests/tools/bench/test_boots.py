"""The machines whose boots are measured, and the section about them."""

from pathlib import Path

import pytest

from slipway.bootstrapper.artifacts.agent import DOWNLOADED
from slipway.bootstrapper.delivery.fetching import FOLDER
from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES
from tools.bench.boots import VARIANTS, Gateway, section
from tools.node.compare import Boot


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_what_its_row_says(name: str, tmp_path: Path) -> None:
    """What is fetched is a stub and a payload; the agent is downloaded where the row names it, and nowhere else."""
    (tmp_path / "program").write_bytes(b"a program")
    gateway = Gateway.filled(tmp_path, tmp_path / "program")
    user_data = gateway.user_data(*VARIANTS[name])
    payloads = [path.read_bytes() for path in gateway.store.glob(f"{FOLDER}/*")]
    assert bool(payloads) == name.startswith("fetched")
    assert (len(user_data) <= MOST_BYTES) == bool(payloads)
    (whole,) = payloads or [user_data]
    assert (DOWNLOADED.encode() in whole) == name.endswith("machineadm")


def test_a_row_has_the_median_and_each_boot() -> None:
    """Seconds that passed, and those of the processors."""
    text = section({"inline, the runner": [Boot(10.0, 8.0), Boot(12.0, 9.0)]}, load=3.6)
    assert "| inline, the runner | 11.0 | 8.5 | 10.0 (8.0), 12.0 (9.0) |" in text
    assert "the load average was 4," in text
