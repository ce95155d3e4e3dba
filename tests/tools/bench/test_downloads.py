"""The section about downloads: a row for each load, and the sizes of the stubs that are written today."""

from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES
from slipway.bootstrapper.delivery.stubs.table import STUBS
from tools.bench.downloads import Downloads, section, stub_sizes


def test_every_stub_has_a_row_within_the_limit() -> None:
    """Both sources of each format, the one with an authority larger."""
    sizes = stub_sizes()
    assert sizes.keys() == STUBS.keys()
    assert all(0 < plain < trusting <= MOST_BYTES for plain, trusting in sizes.values())


def test_a_row_says_how_fast_it_was() -> None:
    """MiB a second of all downloads together."""
    text = section([Downloads(20, 4.0, 3.5, 120.4, 2.25)], {"ignition/3.3.0": (422, 993)})
    assert "| 20 | 4.00 | 40 | 3.50 | 120 | 2.25 |" in text
    assert "| `ignition/3.3.0` | 422 | 993 |" in text
