"""Which units a preset names."""

import pytest

from tools.oracles import presets


@pytest.mark.parametrize(
    ("text", "units", "reason"),
    [
        ("enable a.service\ndisable b.timer\n", ["a.service", "b.timer"], "plain lines"),
        ("enable a@.service x y\n", ["a@x.service", "a@y.service"], "instances of a template"),
        ("# enable a.service\n\n", [], "comments and empty lines"),
        ("enable *\n", [], "a wildcard names no unit"),
        ("enabled a.service\n", [], "no such verb"),
    ],
)
def test_units(text, units, reason):
    """Each kind of line."""
    assert presets.units(text) == units, reason
