"""Types of host paths that no kubelet takes are refused, whatever renders the machine."""

import pytest

from slipway.bootstrapper.assembly.structure import violations
from slipway.v1alpha1 import spec_pb2 as specpb


def spec(component: str, path_type: str) -> specpb.MachineBootstrapSpec:
    """Make a spec whose second volume of a component has a type."""
    made = specpb.MachineBootstrapSpec()
    volumes = getattr(made.kubernetes.control_plane, component).volumes
    for word in ("File", path_type):
        volumes.add(name="a", host_path="/a", mount_path="/b", path_type=word)
    return made


@pytest.mark.parametrize("component", ["api_server", "controller_manager", "scheduler"])
@pytest.mark.parametrize(
    ("path_type", "hint"),
    [("directory", "did you mean Directory?"), ("DirectoryOrCraete", "DirectoryOrCreate?"), ("zzz", "there are Dir")],
)
def test_a_type_that_kubernetes_lacks_is_refused(component: str, path_type: str, hint: str) -> None:
    """The field of the very volume is named, with the type that was meant."""
    (violation,) = violations(spec(component, path_type))
    assert violation.path.endswith(f"kubernetes.control_plane.{component}.volumes[1].path_type")
    assert hint in violation.description


@pytest.mark.parametrize(
    "path_type",
    ["", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"],
)
def test_all_of_kubernetes_are_let_by(path_type: str) -> None:
    """Source: HostPathType in k8s.io/api/core/v1."""
    assert not list(violations(spec("scheduler", path_type)))
