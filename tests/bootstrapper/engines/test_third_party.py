"""An engine of another package that is broken concerns only who asks for it, and is reported as its own defect."""

import re
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, EntryPoint, PathDistribution
from pathlib import Path

import pytest
from click.testing import CliRunner

from slipway.bootstrapper.engines import table
from slipway.bootstrapper.engines.table import GROUP, EngineTable, installed_engines
from slipway.cli.command_line import cli
from slipway.contract.errors import SpecInvalid
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

Install = Callable[..., EngineTable]

FLEET = """
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: fleet}
spec:
  cluster: {kubernetesVersion: v1.34.2, endpoint: {host: api.example.com}, podCidrs: [10.244.0.0/16]%s}
  machines: [{name: m, role: Worker, config: c}]
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: c}
spec: {kubernetes: {%s}}
"""
SOUND = """
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
class Boat(KubeadmEngine):
    name = "boat"
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Give a function: it installs packages of one module each, as pairs of an entry point's name and a text."""
    numbers = iter(range(100))
    monkeypatch.syspath_prepend(str(tmp_path))

    def distribution(module: str) -> Distribution:
        folder = tmp_path / f"{module}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module.replace('_', '-')}\nVersion: 0.3.0\n")
        return PathDistribution(folder)

    def install(*packages: tuple[str, str], member: str = "Boat") -> EngineTable:
        entries = []
        for name, text in packages:
            module = f"boats_{next(numbers)}_{tmp_path.name.replace('-', '_')}"
            (tmp_path / f"{module}.py").write_text(text)
            entry = EntryPoint(name, f"{module}:{member}", GROUP)
            vars(entry)["dist"] = distribution(module)
            entries.append(entry)
        monkeypatch.setattr(table, "entry_points", lambda *, group: entries if group == GROUP else [])
        return installed_engines()

    yield install
    table._with_others.cache_clear()


BROKEN = [
    ("import of_nothing_at_all", "it cannot be loaded: ModuleNotFoundError at boats_", "an import that fails"),
    ("raise RuntimeError('s3cret')", "it cannot be loaded: RuntimeError at boats_", "an exception at import"),
    ("import sys\nsys.exit(3)", "it cannot be loaded: SystemExit at boats_", "a program's end"),
    ("def Boat(: pass", "it cannot be loaded: SyntaxError", "no Python"),
    ("", "it cannot be loaded: AttributeError", "no such class"),
    ("Boat = dict", "does not name a class that is an Engine", "another class"),
    ("Boat = 7", "does not name a class that is an Engine", "no class"),
    ("from slipway.bootstrapper.engines.engine import Engine as Boat", "TypeError", "an abstract class"),
    (f"{SOUND}    def __init__(self): self.x = self.y", "AttributeError", "an exception in its constructor"),
    (SOUND.replace("boat", "ship"), "its name is ship", "another name than the entry point's"),
    (SOUND.replace('"boat"', '""'), "its name is not a DNS label", "an empty name"),
    (SOUND.replace('"boat"', '"Bo at"'), "its name is not a DNS label", "a name that no field can hold"),
    (SOUND.replace('"boat"', "7"), "its name is not a DNS label", "no text"),
    (f"{SOUND}    version = ''", "its version is not a version such as", "an empty version"),
    (f"{SOUND}    version = 'one two'", "its version is not a version such as", "words"),
    (f"{SOUND}    oldest = '1.30'", "its oldest is not a minor version", "a text"),
    (f"{SOUND}    oldest = (1, 40)", "its newest version of Kubernetes is older than its oldest", "no range"),
    (f"{SOUND}    os_families = ()", "its os_families is not a sequence", "no system at all"),
    (f"{SOUND}    os_families = None", "its os_families is not a sequence", "no sequence"),
    (f"{SOUND}    features = ('os.files',)", "its features is not a sequence", "names in place of features"),
    (f"{SOUND}    features = KubeadmEngine.features * 2", "twice", "features twice"),
    (f"{SOUND}    remedies = []", "its remedies is not a mapping", "a list"),
    (f"{SOUND}    join_tokens = None", "its join_tokens is not an instance", "no mechanism"),
    (f"{SOUND}    distributions = 'debian'", "its distributions is not a collection", "a text"),
    (f"{SOUND}    unserved = ('alpine',)", "its unserved is not a mapping", "no reasons"),
    (f"{SOUND}    plans_by_class = 'no'", "its plans_by_class is not True or False", "a text"),
]


@pytest.mark.parametrize(("text", "cause", "reason"), BROKEN, ids=[reason for *_, reason in BROKEN])
def test_a_broken_engine_is_refused_for_who_asks_for_it(
    install: Install, tmp_path: Path, text: str, cause: str, reason: str
) -> None:
    """Others have the other engines; package, entry point and cause are named, and no word of its exception."""
    engines = install(("boat", text))
    assert engines.names == ["kubeadm", "k0s"], reason
    assert engines.choose(kubernetespb.Kubernetes(), clusterpb.Cluster()).name == "kubeadm"
    with pytest.raises(SpecInvalid) as refused:
        engines.choose(kubernetespb.Kubernetes(engine="boat"), clusterpb.Cluster())
    (violation,) = refused.value.violations
    assert violation.path == "intent.kubernetes.engine"
    assert re.search(r"package boats-\S+ 0\.3\.0, entry point boat = boats_\w+:Boat: ", violation.description)
    assert cause in violation.description
    assert "a defect of that package, not of Slipway" in violation.description
    assert "s3cret" not in violation.description
    with pytest.raises(SpecInvalid) as refused:
        engines.choose(kubernetespb.Kubernetes(), clusterpb.Cluster(control_plane="boat"))
    assert [entry.path for entry in refused.value.violations] == ["intent.cluster.control_plane"]


def test_a_name_of_ours_is_refused_for_the_third_party_only(install: Install) -> None:
    """Kubeadm stays what it is; that another one wants its name is reported."""
    engines = install(("kubeadm", SOUND.replace("boat", "kubeadm")))
    chosen = engines.choose(kubernetespb.Kubernetes(engine="kubeadm"), clusterpb.Cluster())
    assert (engines.names, type(chosen).__name__) == (["kubeadm", "k0s"], "KubeadmEngine")
    assert ["comes with Slipway" in entry.sentence for entry in engines.unusable] == [True]


def test_two_engines_of_a_name_are_both_refused(install: Install) -> None:
    """Which one is meant is not known; each names the other."""
    engines = install(("boat", SOUND), ("boat", SOUND), ("ship", SOUND.replace("boat", "ship")))
    assert engines.names == ["kubeadm", "k0s", "ship"]
    assert ["another engine has the same name: package boats" in entry.sentence for entry in engines.unusable] == [
        True,
        True,
    ]


def test_an_entry_point_without_a_name_that_fields_can_hold(install: Install) -> None:
    """No machine could ask for it."""
    engines = install(("Bo at", SOUND))
    assert ["is not a DNS label" in entry.sentence for entry in engines.unusable] == [True]


@pytest.mark.parametrize(
    ("method", "cause"),
    [
        ("def build_plan(self, bundle, served): return {}[bundle.machine.name]", "it failed with KeyError at boats_"),
        ("def build_plan(self, bundle, served): return None", "it gave NoneType in place of an EngineResult"),
    ],
)
def test_an_engine_that_fails_is_the_refusal_of_its_machine(install: Install, method: str, cause: str) -> None:
    """By the field that chooses it: not an internal error of Slipway. What it raises on purpose stays."""
    engines = install(("boat", f"{SOUND}    {method}"))
    chosen = engines.choose(kubernetespb.Kubernetes(engine="boat"), clusterpb.Cluster())
    bundle = bundlepb.BootstrapBundle()
    bundle.machine.name = "s3cret"
    with pytest.raises(SpecInvalid) as refused:
        chosen.build_plan(bundle, provisionerpb.FormatInfo())
    (violation,) = refused.value.violations
    assert violation.path == "intent.kubernetes.engine"
    assert cause in violation.description
    assert "s3cret" not in violation.description


def _run(tmp_path: Path, kubernetes: str, *arguments: str, control_plane: str = "") -> tuple[int, str]:
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET % (control_plane, kubernetes))
    command, *rest = arguments
    done = CliRunner().invoke(cli, [command, "-f", str(path), *rest])
    return done.exit_code, re.sub(r"\s+", " ", done.output)


COMMANDS = [
    ("validate",),
    ("explain", "--provisioner", "all"),
    ("explain", "--engine", "all"),
    ("render", "--provisioner", "cloud-init"),
    ("size", "--provisioner", "cloud-init"),
    ("bundle", "--lowered-for", "ignition"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_command_breaks_that_does_not_use_it(install: Install, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A module that cannot be imported is a warning where engines are compared or checked."""
    install(("boat", "import of_nothing_at_all"))
    status, output = _run(tmp_path, "", *arguments)
    assert status == 0, output
    assert "internal error" not in output
    if arguments in (("validate",), ("explain", "--engine", "all")):
        assert "a bootstrap engine cannot be used: package boats" in output, output


@pytest.mark.parametrize("by_spec", [True, False])
@pytest.mark.parametrize("arguments", [COMMANDS[0], *COMMANDS[3:]], ids=" ".join)
def test_a_command_that_needs_it_names_field_and_package(
    install: Install, tmp_path: Path, arguments: tuple[str, ...], by_spec: bool
) -> None:
    """And exits as for any other machine that is refused."""
    install(("boat", "import of_nothing_at_all"))
    status, output = (
        _run(tmp_path, "engine: boat", *arguments)
        if by_spec
        else _run(tmp_path, "", *arguments, control_plane=", controlPlane: boat")
    )
    assert status == 1, output
    assert "internal error" not in output
    assert ("spec.kubernetes.engine" if by_spec else "cluster.controlPlane") in output, output
    assert "is a bootstrap engine that cannot be used: package boats" in output, output
