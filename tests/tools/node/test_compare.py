"""The section of the page on boots."""

from tools.node import compare
from tools.node.compare import Boot

MEASURED = {"Slipway": [Boot(3.0, 6.0), Boot(1.0, 8.0), Boot(2.0, 7.0)], "kubeadm provider": [Boot(4.5, 6.5)]}


def test_the_median_counts_and_each_boot_is_shown():
    """A table with a row for each of the two."""
    text = compare.section(MEASURED)
    assert "| Slipway | 2.0 | 7.0 | 3.0 (6.0), 1.0 (8.0), 2.0 (7.0) |" in text
    assert "| kubeadm provider | 4.5 | 6.5 | 4.5 (6.5) |" in text
