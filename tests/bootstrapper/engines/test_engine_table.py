"""Which engine a machine gets, and what others may put into the table."""

from importlib.metadata import EntryPoint

import pytest

from slipway.bootstrapper.engines import table
from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.table import EngineTable, built_in_engines, check_system, installed_engines
from slipway.contract.errors import SpecInvalid, UnsupportedTarget
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb


class Other(KubeadmEngine):
    """An engine of another package."""

    name = "other"


@pytest.mark.parametrize(
    ("named_engine", "control_plane", "name", "reason"),
    [
        (None, "", "kubeadm", "nobody says anything"),
        (None, "k0s", "k0s", "that of the control plane"),
        (None, "talos", "kubeadm", "the engine refuses a control plane that it did not make"),
        ("k0s", "", "k0s", "the spec says so"),
        ("k0s", "kubeadm", "k0s", "the engine refuses it"),
    ],
)
def test_a_machine_gets_the_engine_of_its_spec_or_its_control_plane(
    named_engine: str | None, control_plane: str, name: str, reason: str
) -> None:
    """In this order, kubeadm last."""
    kubernetes = kubernetespb.Kubernetes(engine=named_engine)
    cluster = clusterpb.Cluster(control_plane=control_plane or None)
    assert built_in_engines().choose(kubernetes, cluster).name == name, reason


@pytest.mark.parametrize(("named_engine", "remedy"), [("k0", "did you mean k0s?"), ("zebra", "choose kubeadm or k0s")])
def test_an_engine_that_is_not_installed_is_refused_by_field(named_engine: str, remedy: str) -> None:
    """With what there is in its place."""
    with pytest.raises(SpecInvalid) as refused:
        built_in_engines().choose(kubernetespb.Kubernetes(engine=named_engine), clusterpb.Cluster())
    (violation,) = refused.value.violations
    assert (violation.path, violation.remedy) == ("intent.kubernetes.engine", remedy)


def test_an_engine_serves_the_systems_that_it_declares() -> None:
    """Others are refused by the field of the target."""
    kubeadm, k0s = built_in_engines()
    for family in (clusterpb.OS_FAMILY_LINUX, clusterpb.OS_FAMILY_WINDOWS):
        check_system(kubeadm, clusterpb.Target(os_family=family))
    check_system(k0s, clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX))
    with pytest.raises(UnsupportedTarget) as refused:
        check_system(k0s, clusterpb.Target(os_family=clusterpb.OS_FAMILY_WINDOWS))
    assert refused.value.violations[0].path == "machine.target.os_family"


class Choosy(Other):
    """An engine of two distributions, and of all Windows machines."""

    distributions = ("ubuntu", "debian")


@pytest.mark.parametrize(
    ("serving", "distribution", "words"),
    [
        (Choosy(), "debian", ""),
        (Choosy(), "rhel", "must be a distribution on which the bootstrap engine other makes nodes"),
        (Choosy(), "", "must be a distribution on which the bootstrap engine other makes nodes"),
        (K0sEngine(), "alpine", "its init system is OpenRC"),
        (K0sEngine(), "debian", ""),
        (K0sEngine(), "unheard-of", ""),
        (KubeadmEngine(), "alpine", ""),
    ],
)
def test_an_engine_serves_the_distributions_that_it_declares(serving: Engine, distribution: str, words: str) -> None:
    """Another one is refused by the field of the target, and one that is not stated where it matters."""
    check_system(Choosy(), clusterpb.Target(os_family=clusterpb.OS_FAMILY_WINDOWS, distribution="windows"))
    target = clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, distribution=distribution)
    if not words:
        check_system(serving, target)
        return
    with pytest.raises(UnsupportedTarget) as refused:
        check_system(serving, target)
    (violation,) = refused.value.violations
    assert violation.path == "machine.target.distribution"
    assert words in violation.description
    assert "another engine" in violation.remedy


def test_the_contract_has_options_of_the_engines_that_come_with_slipway() -> None:
    """Each by its name, in the same order: who has the contract alone, as the conformance suite, knows them too."""
    options = [field.name for field in specpb.EngineOptions.DESCRIPTOR.fields]
    assert options == built_in_engines().names


def test_engines_of_other_packages_are_installed_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """They stand behind our own."""
    entry = EntryPoint("other", f"{__name__}:Other", table.GROUP)
    monkeypatch.setattr(table, "entry_points", lambda *, group: [entry] if group == entry.group else [])
    assert installed_engines().names == ["kubeadm", "k0s", "other"]


def test_two_engines_of_a_name_are_no_table() -> None:
    """Neither could be chosen."""
    with pytest.raises(ValueError, match="other"):
        EngineTable([Other(), Other()])
