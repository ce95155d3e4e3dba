"""The Go modules of the examples by their own tools: formatted, vetted, tested, and as small as they say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.oracles.go_examples import EXAMPLES, go

pytestmark = pytest.mark.timeout(600)
_ROOT = Path(__file__).resolve().parents[2]
_EXAMPLES = _ROOT / "examples"
_MOST_LINES = 600


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_their_own_tests_pass(name: str, engine: Callable[..., None]) -> None:
    """`go vet` finds nothing, and `go test` of the example and of the module that it uses passes."""
    engine(name)
    for module in EXAMPLES[name].modules():
        go(module, "vet", "./...")
        go(module, "test", "./...")


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_they_are_formatted(name: str, engine: Callable[..., None]) -> None:
    """`gofmt` would change nothing."""
    engine(name)
    for module in EXAMPLES[name].modules():
        assert go(module, "-l", ".", program="gofmt") == "", module


@pytest.mark.parametrize("folder", sorted(EXAMPLES))
def test_they_are_small(folder: str) -> None:
    """What an author writes, besides the package that every provisioner can use, fits into 600 lines."""
    lines = sum(
        len(path.read_text(encoding="utf-8").splitlines())
        for path in (_EXAMPLES / folder).glob("*.go")
        if not path.name.endswith("_test.go")
    )
    assert 0 < lines <= _MOST_LINES


@pytest.mark.parametrize("folder", ["sdk/go", "examples/provisioner-go", "examples/client-go"])
def test_they_know_nothing_but_the_contract(folder: str) -> None:
    """Their own imports are Go's, gRPC's, protobuf's, a TOML encoder's, a proto compiler's, and the contract."""
    known = (
        "github.com/bufbuild/protocompile",
        "github.com/pelletier/go-toml/v2",
        "google.golang.org/",
        "slipway.dev/sdk/",
    )
    for path in (_ROOT / folder).rglob("*.go"):
        if "slipway" in path.relative_to(_ROOT / folder).parts:
            continue
        head = path.read_text(encoding="utf-8").partition("import (")[2].partition("\n)")[0]
        imports = [line.split('"')[1] for line in head.splitlines() if '"' in line]
        assert not [one for one in imports if "." in one.split("/")[0] and not one.startswith(known)], path


def test_the_generated_code_is_fresh(engine: Callable[..., None]) -> None:
    """What `go generate` writes now is what the SDK comes with (run: make proto)."""
    engine("provisioner-go")
    fresh, _ = EXAMPLES["provisioner-go"].modules()
    code = {
        folder: {path.name: path.read_bytes() for path in (folder / "slipway" / "v1alpha1").iterdir()}
        for folder in (fresh, _ROOT / "sdk" / "go")
    }
    assert code[fresh] == code[_ROOT / "sdk" / "go"]
