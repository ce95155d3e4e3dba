"""The distributions share the namespace `slipway`: no file of one hides the code of another."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("slipway", "slipway/conformance")


@pytest.mark.parametrize("root", ["sdk/python", "bootstrapper", "provisioners", "services"])
@pytest.mark.parametrize("package", SHARED)
def test_no_source_root_claims_a_shared_package(root: str, package: str) -> None:
    """An `__init__.py` there would hide the modules of every other source root."""
    assert (ROOT / root / "slipway").is_dir()
    assert not (ROOT / root / package / "__init__.py").exists()


def test_no_source_root_has_a_second_name() -> None:
    """What can be imported from a source root is `slipway` alone."""
    for root in ("bootstrapper", "provisioners", "services"):
        assert [path.name for path in (ROOT / root).iterdir() if path.name != "__pycache__"] == ["slipway"]
