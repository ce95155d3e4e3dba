"""Slips in the source of the provisioner in Go are seen by the suite, with the decoder that its author wrote."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.conformance import user_files
from slipway.conformance.check import Need
from slipway.conformance.options import Options
from tests.services.conformance.edits.edit import Edit, edits
from tests.services.conformance.edits.programs import go
from tests.services.conformance.runs import CHECKS, broken

_LISTS = (
    "bottlerocket",
    "bottlerocket_again",
    "bottlerocket_third",
    "bottlerocket_fifth",
    "bottlerocket_sixth",
    "bottlerocket_twelfth",
    "bottlerocket_thirteenth",
    "bottlerocket_fourteenth",
    "bottlerocket_settings",
)
SEEN = [edit for name in _LISTS for edit in edits(name) if edit.check]
_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "provisioner-go"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("edit", SEEN, ids=lambda edit: edit.name.replace(" ", "-"))
async def test_a_slip_in_go_is_seen(edit: Edit, tmp_path: Path, engine: Callable[..., None]) -> None:
    """By the check that is named beside it; the example without a slip is tried in full beside this file."""
    engine("provisioner-go")
    insecure = not CHECKS[edit.check].needs & {Need.TLS, Need.AUTHORITY}
    options = Options(
        insecure=insecure,
        start_cmd=go(edit, tmp_path),
        decode_cmd=(sys.executable, str(_EXAMPLE / "decode.py")),
        extensions=(user_files.read_extension(_EXAMPLE / "extension.yaml"),),
    )
    assert await broken(options, edit.check) == [edit.check]
