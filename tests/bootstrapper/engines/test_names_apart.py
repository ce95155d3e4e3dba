"""Only its own folder, its importer and the tables know an engine, or a first-boot system, by name.

Each table below is exact: a module that comes to know a name fails, and so does an entry that is not needed any more.
What is looked through is code. Files of data, such as those of infrastructures, distributions and reasons, are tables.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ("bootstrapper/slipway", "provisioners/slipway", "services/slipway", "sdk/python/slipway")
PROGRAMS = ("*.sh", "*.ps1", "*.tmpl", "*.service")
BOOTSTRAPPER = "bootstrapper/slipway/bootstrapper"
SERVICES = "services/slipway"
COLLECT = "machineadm/internal/collect"
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
    """Give the words of each module, and the text of each program for a machine, by its path."""
    paths = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    named = {path.relative_to(ROOT).as_posix(): path for path in paths}
    words = {
        name: "\n".join(words_of_code(path.read_text(encoding="utf-8")))
        for name, path in named.items()
        if not name.startswith(GENERATED)
    }
    programs = [path for folder in SOURCES for pattern in PROGRAMS for path in (ROOT / folder).rglob(pattern)]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in programs}
    return words | texts | go_code()


def go_code() -> dict[str, str]:
    """Give the code of each Go file that is written by people, without line comments and tests."""
    paths = [path for folder in ("machineadm", "sdk/go") for path in sorted((ROOT / folder).rglob("*.go"))]
    return {
        path.relative_to(ROOT).as_posix(): re.sub(r"(?m)(^|\s)//.*$", "", path.read_text(encoding="utf-8"))
        for path in paths
        if not path.name.endswith(("_test.go", ".pb.go"))
    }


def knowing(word: str, *, own: tuple[str, ...], without: str = "") -> set[str]:
    """Give what has a word in its code, but for those of its own; names that match `without` are none of it."""
    pattern = re.compile(rf"(?<![a-z])({word})", re.IGNORECASE)
    other = re.compile(without or r"(?!)", re.IGNORECASE)
    outside = {name: text for name, text in code().items() if not name.startswith(own)}
    return {name for name, text in outside.items() if pattern.search(other.sub("", text))}


PROVIDER_OF_TODAY = (
    r"Kubeadm(Config|ControlPlane)\w*|KubeadmQuestions|KUBEADM_(CONFIGS|GROUP|PROVIDER)"
    r"|kubeadm[_ ]?(configs?(?!ur)|provider)"
)
"""Cluster API's kubeadm provider, beside which Slipway works: its kinds and its layout, not the engine."""

ENGINES = {
    "k0s": {
        f"{BOOTSTRAPPER}/engines/table.py": "the table of engines",
        f"{BOOTSTRAPPER}/importers/cluster_api/families.py": "the table of Cluster API's kinds",
        f"{SERVICES}/diagnosis/rules.py": "the scopes of rules",
        f"{COLLECT}/sources_linux.go": "the table of logs",
    },
    "kubeadm": {
        f"{BOOTSTRAPPER}/engines/table.py": "the table of engines",
        f"{BOOTSTRAPPER}/importing.py": "calls the importer",
        f"{SERVICES}/controller/conditions.py": "reasons for what KubeadmControlPlane looks after",
        f"{SERVICES}/controller/ownership.py": "the annotation for the version of an image's kubeadm",
        f"{SERVICES}/diagnosis/rules.py": "the scopes of rules",
        f"{COLLECT}/sources_linux.go": "the table of logs",
        f"{COLLECT}/sources_windows.go": "the table of logs",
        "machineadm/internal/redact/values.go": "words behind a name that are never secrets",
        "machineadm/preflight.go": "a flag that has the form of kubeadm's own",
    },
}
IMPORTERS = {
    "k0s": (),
    "kubeadm": (f"{BOOTSTRAPPER}/importers/", f"{SERVICES}/controller/opt_in/"),
}


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_is_known_in_its_folder_and_the_tables(name: str) -> None:
    """Another engine changes no line elsewhere: no provisioner, no pass, no runner."""
    own = (f"{BOOTSTRAPPER}/engines/{name}/", *IMPORTERS[name])
    assert knowing(name, own=own, without=PROVIDER_OF_TODAY) == set(ENGINES[name])


FIRST_BOOT = {
    "cloud.?init": {
        f"{BOOTSTRAPPER}/lowering/fact_table.py": "the table of machine facts",
        f"{BOOTSTRAPPER}/lowering/runners/programs/facts_cloud_init.sh": "machine facts that cloud-init knows",
        f"{BOOTSTRAPPER}/assembly/structure.py": "an account whose name has a meaning for cloud-init",
        f"{BOOTSTRAPPER}/lowering/linux/disks.py": "names of devices in imported configs",
        f"{BOOTSTRAPPER}/lowering/linux/files.py": "templates in imported configs",
        f"{BOOTSTRAPPER}/lowering/linux/mounts.py": "names of devices in imported configs",
        f"{BOOTSTRAPPER}/lowering/linux/programs/ntp.sh": "what installs a time client for imported configs, as today",
        f"{BOOTSTRAPPER}/target.py": "what a distribution takes in place of cloud-init",
        f"{BOOTSTRAPPER}/provisioning/versions.py": "an example in a message",
        f"{SERVICES}/certificates/__main__.py": "an example in the help",
    },
    "ignition": {
        f"{BOOTSTRAPPER}/documents/imported.py": "formats of imported configs",
        f"{BOOTSTRAPPER}/lowering/linux/systemd_units.py": "units in which a machine's runner must not wait",
        f"{SERVICES}/registry/advertisement.py": "an example in a message",
        "sdk/python/slipway/contract/grammars.py": "an example in a message",
    },
    "talos": {
        f"{BOOTSTRAPPER}/importers/cluster_api/families.py": "the table of Cluster API's kinds",
        f"{BOOTSTRAPPER}/provisioning/versions.py": "an example in a message",
        f"{SERVICES}/cli/render_command.py": "an example in the help",
    },
    "cloudbase|unattend": {
        f"{SERVICES}/diagnosis/certainty.py": "a program of Debian's that installs updates",
    },
}
"""Windows is an operating system as well: its first-boot systems have names of their own."""

TABLES = {
    f"{COLLECT}/sources_linux.go": "the table of logs",
    f"{COLLECT}/sources_windows.go": "the table of logs",
    f"{SERVICES}/embedded/provisioners.py": "the table of our provisioners",
    f"{SERVICES}/cli/processes.py": "the table of their programs",
    f"{SERVICES}/controller/__main__.py": "the help that lists them",
    f"{SERVICES}/controller/conditions.py": "a remedy that lists those that take plans",
    f"{SERVICES}/diagnosis/rules.py": "the scopes of rules",
}
OWN = {
    "cloud.?init": ("provisioners/slipway/provisioners/cloud_init/",),
    "ignition": ("provisioners/slipway/provisioners/ignition/",),
    "talos": ("provisioners/slipway/provisioners/talos/",),
    "cloudbase|unattend": ("provisioners/slipway/provisioners/windows/",),
}
DECODERS = f"{SERVICES}/conformance/decoders/"
"""Modules of the suite that read user data, one or more for each system."""


@pytest.mark.parametrize("system", FIRST_BOOT)
def test_a_first_boot_system_is_known_in_its_folder_and_the_tables(system: str) -> None:
    """Another first-boot system changes no line elsewhere; importers read configs that name two of them."""
    importers = (f"{BOOTSTRAPPER}/importers/",) if system in {"cloud.?init", "ignition"} else ()
    own = (*OWN[system], DECODERS, *importers)
    known = knowing(system, own=own)
    assert known - set(TABLES) == set(FIRST_BOOT[system])


def test_no_table_of_first_boot_systems_is_in_vain() -> None:
    """Each knows one of them at least."""
    known = {name for system in FIRST_BOOT for name in knowing(system, own=OWN[system])}
    assert set(TABLES) <= known


@pytest.mark.parametrize("system", FIRST_BOOT)
def test_engines_know_no_first_boot_system(system: str) -> None:
    """Where a plan depends on the format, the format declares it."""
    assert {item for item in knowing(system, own=()) if item.startswith(f"{BOOTSTRAPPER}/engines/")} == set()
