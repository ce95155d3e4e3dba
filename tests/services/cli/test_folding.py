"""Remarks of one cause: few stand as they are, many are one line that says how many and where."""

from slipway.cli.output import folded


def line(index: int, cause: str = "is not supported") -> str:
    """Give a remark of a file of a template."""
    return f"c.yaml:{index + 10}:5: KubeadmConfigTemplate/c: spec.template.spec.files[{index}]: {cause}"


def test_many_of_one_cause_are_one_line() -> None:
    """The first of them stands for all, where it was; others keep their place behind it."""
    lines = [*(line(index) for index in range(5)), line(5, "a mode is missing")]
    assert list(folded(lines)) == [
        f"{line(0)} (4 more of the same cause, in line 11, 12, 13, 14)",
        line(5, "a mode is missing"),
    ]


def test_few_and_different_ones_stay_as_they_are() -> None:
    """A line each, with its own place; another document is another cause."""
    lines = [line(index) for index in range(3)] + [line(index).replace("/c:", f"/{index}:") for index in range(3)]
    assert list(folded(lines)) == lines


def test_not_every_place_is_shown() -> None:
    """Nor is there any for a machine that is in no file."""
    (shown,) = folded(line(index) for index in range(40))
    assert shown.endswith("(39 more of the same cause, in line 11, 12, 13, 14, 15, 16, 17, 18 ...)")
    (bare,) = folded(f"os.files[{index}]: is not supported" for index in range(4))
    assert bare == "os.files[0]: is not supported (3 more of the same cause)"
