"""The section about downloads: a row for each load, and the sizes of the stubs that are written today."""

from slipway.bootstrapper.delivery.stubs.formats import STUBS
from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES
from tools.bench.downloads import Downloads, section, stub_sizes
from tools.bench.fetched import PROVISIONERS, Delivered, fetched_rows


def test_every_stub_has_a_row_within_the_limit() -> None:
    """Both sources of each format, the one with an authority larger."""
    sizes = stub_sizes()
    assert sizes.keys() == STUBS.keys()
    assert all(0 < plain < trusting <= MOST_BYTES for plain, trusting in sizes.values())


def test_a_row_says_how_fast_it_was() -> None:
    """MiB a second of all downloads together."""
    text = section([Downloads(20, 4.0, 3.5, 120.4, 2.25)], {"ignition/3.3.0": (422, 993)}, [], load=7.4)
    assert "the load average was 7," in text
    assert "| 20 | 4.00 | 40 | 3.50 | 120 | 2.25 |" in text
    assert "| `ignition/3.3.0` | 422 | 993 |" in text


async def test_each_machine_has_a_row_by_both_deliveries() -> None:
    """The payload is what would be inline, and the stub is small whatever the machine is."""
    rows = await fetched_rows(calls=1)
    assert {(row.provisioner, row.role) for row in rows} >= {(name, "worker") for name in PROVISIONERS}
    for row in rows:
        assert 0 < row.stub <= MOST_BYTES < row.inline
        assert abs(row.payload - row.inline) < 200
        assert row.inline_ms > 0 < row.fetched_ms


def test_a_row_has_both_deliveries() -> None:
    """Bytes as they are, times in milliseconds."""
    text = section([], {}, [Delivered("ignition", "worker", 4000, 500, 4001, 3.14, 4.26)], load=0.0)
    assert "| ignition | worker | 4000 | 500 | 4001 | 3.1 | 4.3 |" in text
