"""The page of figures keeps the sections that others measure."""

from tools.bench.sections import BOOT, CLUSTER, kept, with_section

PAGE = f"# Performance\n\nWords.\n\n## Memory\n\n| a |\n\n{BOOT}\n\nold\n\nwords\n"


def test_a_section_takes_the_place_of_its_predecessor_alone() -> None:
    """Nothing before and behind it changes, whoever writes first."""
    page = with_section(PAGE, f"{CLUSTER}\n\nfigures\n")
    assert page == f"{PAGE}\n{CLUSTER}\n\nfigures\n"
    page = with_section(page, f"{BOOT}\n\nnew\n")
    assert page == PAGE.replace("old\n\nwords", "new") + f"\n{CLUSTER}\n\nfigures\n"


def test_a_page_that_is_made_anew_keeps_what_others_measured() -> None:
    """Both sections, and no other one of before."""
    before = with_section(PAGE, f"{CLUSTER}\n\nfigures\n")
    page = kept("# Performance\n\nNew.\n", before)
    assert page == f"# Performance\n\nNew.\n\n{CLUSTER}\n\nfigures\n\n{BOOT}\n\nold\n\nwords\n"
