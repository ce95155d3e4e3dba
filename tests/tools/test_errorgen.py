"""The error table is checked and its two products are fresh."""

from pathlib import Path
from typing import Any

import pytest

from slipway.v1alpha1 import reasons
from tools import errorgen

ROOT = Path(__file__).resolve().parents[2]


def test_the_reference_page_is_fresh() -> None:
    """docs/reference/errors.md is what the generator writes now (run: python tools/errorgen.py --docs)."""
    assert (ROOT / errorgen.PAGE).read_text(encoding="utf-8") == errorgen.page(errorgen.load(ROOT))


def test_the_exceptions_are_fresh() -> None:
    """slipway/contract/errors.py is what the generator writes now (run: make proto)."""
    assert (ROOT / errorgen.CLASSES).read_text(encoding="utf-8") == errorgen.classes(errorgen.load(ROOT))


def test_the_module_is_fresh() -> None:
    """The generated enum that the tests import comes from this table (run: python tools/protogen.py)."""
    assert Path(reasons.__file__).read_text(encoding="utf-8") == errorgen.module(errorgen.load(ROOT))


@pytest.mark.parametrize(
    ("reason", "rule", "want"),
    [
        ("lower_case", {}, "UPPER_SNAKE"),
        ("R" * 64, {}, "63 characters"),
        ("GOOD_NAME", {"code": "OK"}, "error code"),
        ("GOOD_NAME", {"code": "NO_SUCH"}, "error code"),
        ("GOOD_NAME", {"extra": 1}, "needs code"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, reason: str, rule: dict[str, Any], want: str) -> None:
    """The generator names the reason that breaks a rule of the table."""
    good = "meaning: m, recovery: r, retryable: true"
    fields = {"code": "ABORTED"} | rule
    target = tmp_path / errorgen.TABLE
    target.parent.mkdir(parents=True)
    inline = ", ".join([good, *(f"{key}: {value}" for key, value in fields.items())])
    target.write_text(f"reasons: {{{reason}: {{{inline}}}}}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=want):
        errorgen.load(tmp_path)
