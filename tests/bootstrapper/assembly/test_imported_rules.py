"""What an imported config may say, the spec that `slipway import` prints of it may say, too."""

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.assembly.structure import violations
from slipway.v1alpha1 import spec_pb2 as specpb

ACCEPTED_TODAY = [
    'os { users { name: "default" ssh_authorized_keys: "k" } }',
    'os { users { name: "a" password_hash { value: "plain" } } }',
    'os { mounts { source: "LABEL=a" path: "/x" } mounts { source: "LABEL=b" path: "/x" } }',
]


@pytest.mark.parametrize("text", ACCEPTED_TODAY)
def test_the_annotation_frees_a_printed_spec_of_the_same_rules(text: str) -> None:
    """A printed document names the format of its import in an annotation, and no kind."""
    spec = text_format.Parse(text, specpb.MachineBootstrapSpec())
    assert list(violations(spec))
    spec.imported.format = "cloud-config"
    assert list(violations(spec)) == []
