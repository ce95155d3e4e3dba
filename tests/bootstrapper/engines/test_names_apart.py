"""Only its own folder, its importer and the tables know an engine, or a first-boot system, by name.

Each table below is exact: a file that comes to know a name fails, and so does an entry that is not needed any more.
What is looked through is code, the programs for machines, files of data, and what makes the reference pages; comments
and docstrings, which say where a fact is from, are not.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

# One process reads all sources, once.
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("names-apart")]

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ("bootstrapper/slipway", "provisioners/slipway", "services/slipway", "sdk/python/slipway", "tools/docgen")
PROGRAMS = ("*.sh", "*.ps1", "*.tmpl", "*.service")
BOOTSTRAPPER = "bootstrapper/slipway/bootstrapper"
SERVICES = "services/slipway"
COLLECT = "machineadm/internal/collect"
DOCGEN = "tools/docgen"
LOGS = f"{SERVICES}/diagnosis/"
"""Its files of data are tables of what programs print into logs."""
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


def words_of_data(tree: Any) -> Iterator[str]:
    """Give every key and every value of a document."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield str(key)
            yield from words_of_data(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from words_of_data(value)
    else:
        yield str(tree)


def data() -> dict[str, str]:
    """Give the words of each file of data; JSON is YAML, too."""
    paths = [path for folder in SOURCES for kind in ("*.yaml", "*.json") for path in (ROOT / folder).rglob(kind)]
    named = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return {
        name: "\n".join(words_of_data(list(yaml.load_all(text, Loader=yaml.CSafeLoader))))
        for name, text in named.items()
        if not name.startswith(LOGS)
    }


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
    return words | texts | data() | go_code()


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
        f"{BOOTSTRAPPER}/lowering/linux/programs/cluster_report.sh": "the places of a kubelet's credential",
        f"{COLLECT}/sources_linux.go": "the table of logs",
        f"{DOCGEN}/compliance_k0s.py": "the list of controls that say nothing about this engine's nodes",
        f"{DOCGEN}/compliance_page.py": "calls that list",
    },
    "kubeadm": {
        f"{BOOTSTRAPPER}/compliance/profiles/disa-stig-kubernetes.yaml": "what a control says about kubeadm's files",
        f"{BOOTSTRAPPER}/engines/table.py": "the table of engines",
        f"{BOOTSTRAPPER}/documents/own_metadata.py": "the table of Slipway's annotations",
        f"{BOOTSTRAPPER}/importing.py": "calls the importer",
        f"{SERVICES}/controller/reason_meanings.py": "reasons for what KubeadmControlPlane looks after",
        f"{SERVICES}/controller/reasons.py": "the names of these reasons",
        f"{SERVICES}/controller/ownership.py": "the annotation for the version of an image's kubeadm",
        f"{SERVICES}/diagnosis/rules.py": "the scopes of rules",
        f"{SERVICES}/conformance/contract_text/index.yaml": "prose of the contract: whom it is for",
        f"{COLLECT}/sources_linux.go": "the table of logs",
        f"{COLLECT}/sources_windows.go": "the table of logs",
        f"{DOCGEN}/compliance_k0s.py": "prose about the files that controls look at",
        f"{DOCGEN}/event_page.py": "an example of a machine's events",
        f"{DOCGEN}/reason_page.py": "an example of a program that tries again",
        "sdk/python/slipway/contract/grammars.py": "the grammar of the places that this engine's options may name",
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
        f"{SERVICES}/conformance/case_files/features.yaml": "cases of a text that is an extension of cloud-init's",
        f"{BOOTSTRAPPER}/delivery/fetching.py": "the refusal of a text that cloud-init renders inline only",
        f"{BOOTSTRAPPER}/lowering/linux/programs/fetch.sh": "what cloud-init's stub runs",
        f"{SERVICES}/controller/wrapping.yaml": "the table of what infrastructure providers wrap",
        f"{DOCGEN}/compliance_sizes.py": "the table of sizes for each system",
    },
    "ignition": {
        f"{DOCGEN}/compliance_sizes.py": "the table of sizes for each system",
        f"{SERVICES}/controller/wrapping.yaml": "the table of what infrastructure providers wrap",
        f"{BOOTSTRAPPER}/delivery/stubs/formats.py": "the table of stubs, with the one of this system",
        f"{SERVICES}/conformance/contract_text/information.yaml": "prose of the contract: an example of a format's id",
    },
    "talos": {
        f"{BOOTSTRAPPER}/compliance/profile.py": "what a profile may say of the system that does it by itself",
        f"{BOOTSTRAPPER}/compliance/profiles/cis-kubernetes-1.10.yaml": "what that system does by itself",
        f"{BOOTSTRAPPER}/compliance/profiles/disa-stig-kubernetes.yaml": "what that system does by itself",
        f"{DOCGEN}/compliance_page.py": "the column of what that system does by itself",
        f"{DOCGEN}/compliance_sizes.py": "the table of sizes for each system",
        f"{BOOTSTRAPPER}/assembly/subject.py": "the system that does some of a profile by itself",
        f"{BOOTSTRAPPER}/compliance/application.py": "the system that does some of a profile by itself",
        f"{SERVICES}/controller/secret_reader.py": "the names of Secrets that a cluster's providers keep",
        f"{BOOTSTRAPPER}/importers/cluster_api/families.py": "the table of Cluster API's kinds",
        f"{DOCGEN}/condition_page.py": "prose about user data that must arrive unchanged",
    },
    "cloudbase|unattend": {
        f"{SERVICES}/diagnosis/certainty.py": "a program of Debian's that installs updates",
    },
}
"""Windows is an operating system as well: its first-boot systems have names of their own."""

TABLES = {
    f"{BOOTSTRAPPER}/lowering/first_boot_systems.yaml": "the table of what each has on a machine",
    f"{BOOTSTRAPPER}/delivery/infrastructures.yaml": "the table of infrastructures",
    f"{COLLECT}/sources_linux.go": "the table of logs",
    f"{COLLECT}/sources_windows.go": "the table of logs",
    f"{SERVICES}/embedded/provisioners.py": "the table of our provisioners",
    f"{SERVICES}/diagnosis/rules.py": "the scopes of rules",
    f"{SERVICES}/conformance/contract_text/index.yaml": "prose of the contract: what the suite can read",
    f"{SERVICES}/conformance/case_files/extensions.yaml": "a document of each extension, whose ids have these names",
    f"{DOCGEN}/fact_pages.py": "prose about the table of infrastructures",
}
OWN = {
    "cloud.?init": (
        "provisioners/slipway/provisioners/cloud_init/",
        f"{BOOTSTRAPPER}/lowering/runners/programs/facts_cloud_init.sh",
        f"{BOOTSTRAPPER}/lowering/linux/programs/ntp_cloud_init.sh",
    ),
    "ignition": ("provisioners/slipway/provisioners/ignition/",),
    "talos": ("provisioners/slipway/provisioners/talos/",),
    "cloudbase|unattend": ("provisioners/slipway/provisioners/windows/",),
}
"""Folders of provisioners, and the programs that the table of first-boot systems names."""

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
