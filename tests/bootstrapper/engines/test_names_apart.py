"""Only its own folder, its importer and the tables know an engine, or a first-boot system, by name."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ("bootstrapper/slipway", "services/slipway", "sdk/python/slipway")
BOOTSTRAPPER = "bootstrapper/slipway/bootstrapper"
GENERATED = "sdk/python/slipway/v1alpha1"
"""What the contract says, it says: reasons, and the fields of options."""


def words_of_code(text: str) -> Iterator[str]:
    """Give every name and every text of a module, without comments and docstrings."""
    tree = ast.parse(text)
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for node in ast.walk(tree):
        if id(node) in prose:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.arg | ast.keyword):
            yield str(getattr(node, "name", None) or getattr(node, "arg", None) or "")


@functools.cache
def code() -> dict[str, str]:
    """Give the words of each module, by its path."""
    paths = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    named = {path.relative_to(ROOT).as_posix(): path for path in paths}
    return {
        name: "\n".join(words_of_code(path.read_text(encoding="utf-8")))
        for name, path in named.items()
        if not name.startswith(GENERATED)
    }


def knowing(word: str) -> set[str]:
    """Give the modules whose code has a word in it."""
    pattern = re.compile(rf"(?<![a-z]){word}", re.IGNORECASE)
    return {name for name, words in code().items() if pattern.search(words)}


PROVIDER_OF_TODAY = {
    f"{BOOTSTRAPPER}/importing.py": "the call that imports a KubeadmConfig",
    f"{BOOTSTRAPPER}/assembly/structure.py": "the rules of kubeadm's own options",
    f"{BOOTSTRAPPER}/kubernetes_documents/document_places.py": "patches of kubeadm's are documents of a spec",
    "services/slipway/cli/entry_table.py": "fields of Cluster API's kinds",
    "services/slipway/cli/import_command.py": "imports KubeadmConfigs",
    "services/slipway/cli/loading.py": "names the kinds that it reads",
    "services/slipway/cli/release_command.py": "hands KubeadmConfigs back",
    "services/slipway/controller/__main__.py": "the option to follow KubeadmConfigs",
    "services/slipway/controller/assembly.py": "the same",
    "services/slipway/controller/conditions.py": "reasons of conditions",
    "services/slipway/controller/engines.py": "a KubeadmConfig names its engine by its kind",
    "services/slipway/controller/facts.py": "tells a KubeadmConfig from a SlipwayConfig",
    "services/slipway/controller/ownership.py": "annotations of KubeadmConfigs",
    "services/slipway/controller/resources.py": "the kind KubeadmConfig",
    "services/slipway/controller/subject.py": "the version skew of a control plane of Cluster API",
    "services/slipway/controller/watches.py": "watches KubeadmConfigs",
}
"""Cluster API's kubeadm provider, beside which Slipway works: its kinds, not the engine."""

TABLES = {
    f"{BOOTSTRAPPER}/engines/table.py": "the table of engines",
    f"{BOOTSTRAPPER}/importers/cluster_api/families.py": "the table of Cluster API's kinds",
    "services/slipway/diagnosis/rules.py": "the scopes of rules",
}
IMPORTERS = (f"{BOOTSTRAPPER}/importers/", "services/slipway/controller/opt_in/")


@pytest.mark.parametrize(
    ("name", "also", "importers"),
    [("k0s", {}, ()), ("kubeadm", PROVIDER_OF_TODAY, IMPORTERS)],
)
def test_an_engine_is_known_in_its_folder_and_the_tables(
    name: str, also: dict[str, str], importers: tuple[str, ...]
) -> None:
    """A second engine changes no line elsewhere; an entry above that is not needed any more fails, too."""
    own = (f"{BOOTSTRAPPER}/engines/{name}/", *importers)
    others = {item for item in knowing(name) if item in TABLES or not item.startswith(own)}
    assert others == {*TABLES, *also}


@pytest.mark.parametrize("system", ["cloud.?init", "ignition", "talos", "cloudbase"])
def test_engines_know_no_first_boot_system(system: str) -> None:
    """Where a plan depends on the format, the format declares it."""
    assert {item for item in knowing(system) if item.startswith(f"{BOOTSTRAPPER}/engines/")} == set()
