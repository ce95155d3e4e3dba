"""The numbers of the page on architecture: what there is on either side of the bundle, and how long each is."""

from collections.abc import Iterable
from pathlib import Path

from tools.docgen.markdown import table

_ROOT = Path(__file__).resolve().parents[2]
PAGE = Path("docs/explanation/architecture.md")
_BEGIN, _END = "<!-- made by `make docs`: begin -->\n", "\n<!-- made by `make docs`: end -->"
_ENGINES = Path("bootstrapper/slipway/bootstrapper/engines")
_PROVISIONERS = Path("provisioners/slipway/provisioners")
_EXAMPLES = {
    "bootstrap-provider-go": "a bootstrap provider that is not ours: k3s, in Go",
    "provisioner-go": "a provisioner that is not ours: Bottlerocket, in Go",
}
_HUNDRED = 100


def filled(page: str) -> str:
    """Give the page with its tables between the marks.

    Raises:
        ValueError: the marks are not there.
    """
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{PAGE} has no place for its numbers")
    return before + begin + _numbers() + end + after


def _numbers() -> str:
    foreign, stranger = _EXAMPLES
    examples = {name: _rounded((_ROOT / "examples" / name).glob("*.go")) for name in _EXAMPLES}
    engines = [folder for folder in _folders(_ROOT / _ENGINES) if (folder / "engine.py").is_file()]
    shared = [path for path in (_ROOT / _ENGINES).rglob("*.py") if not any(map(path.is_relative_to, engines))]
    bootstraps = [[f"engine `{folder.name}`", _programs(folder)] for folder in engines]
    bootstraps.append([f"[{foreign}](../../examples/{foreign}): {_EXAMPLES[foreign]}", examples[foreign]])
    systems = [[f"provisioner `{folder.name}`", _programs(folder)] for folder in _folders(_ROOT / _PROVISIONERS)]
    systems.append([f"[{stranger}](../../examples/{stranger}): {_EXAMPLES[stranger]}", examples[stranger]])
    ways, forms = len(bootstraps), len(systems)
    pairs = f"{ways} x {forms} = {ways * forms}"
    share = f"The engines share {_rounded(shared)} lines."
    return "\n\n".join(
        (
            table(["who bootstraps Kubernetes", "lines"], bootstraps),
            table(["which first-boot system", "lines"], systems),
            f"{ways} + {forms} = {ways + forms} programs, for what would be {pairs} pairs. {share}",
        )
    )


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.iterdir() if (path / "__init__.py").is_file())


def _programs(folder: Path) -> str:
    return _rounded(path for kind in ("*.py", "*.ps1", "*.sh") for path in folder.rglob(kind))


def _rounded(files: Iterable[Path]) -> str:
    """Count lines without those of tests, to the next hundred: a line more or less makes no page stale."""
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files if "_test" not in file.stem)
    return str(-(-lines // _HUNDRED) * _HUNDRED)
