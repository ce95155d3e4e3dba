"""The section of the page: it replaces an older one, and outlives a page that is made anew."""

from tools.node import compare
from tools.node.compare import Boot

MEASURED = {"Slipway": [Boot(3.0, 6.0), Boot(1.0, 8.0), Boot(2.0, 7.0)], "kubeadm provider": [Boot(4.5, 6.5)]}


def test_the_median_counts_and_each_boot_is_shown():
    """A table with a row for each of the two."""
    text = compare.section(MEASURED)
    assert "| Slipway | 2.0 | 7.0 | 3.0 (6.0), 1.0 (8.0), 2.0 (7.0) |" in text
    assert "| kubeadm provider | 4.5 | 6.5 | 4.5 (6.5) |" in text


def test_a_section_replaces_an_older_one_and_nothing_else():
    """What stands before it stays, and there is one section."""
    old = compare.with_section("# Performance\n\ntext\n", compare.section({"Slipway": [Boot(9.0, 9.0)]}))
    new = compare.with_section(old, compare.section(MEASURED))
    assert new.startswith("# Performance\n\ntext\n\n## ")
    assert new.count(compare.HEADING) == 1
    assert "9.0" not in new


def test_a_page_that_is_made_anew_keeps_the_section():
    """The benchmark of the services knows nothing of boots; without a section nothing is added."""
    before = compare.with_section("# Old\n", compare.section(MEASURED))
    assert compare.kept("# New\n", before) == compare.with_section("# New\n", compare.section(MEASURED))
    assert compare.kept("# New\n", "# Old\n") == "# New\n"
