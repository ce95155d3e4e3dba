"""Items know where they stand in the spec, whoever made the spec."""

from google.protobuf import text_format

from slipway.bootstrapper.assembly.layers import with_origins
from slipway.v1alpha1 import spec_pb2 as specpb


def test_every_item_knows_its_place() -> None:
    """A place that is known already is kept; the spec that was given is not changed."""
    text = """
      os { users { name: "a" } users { name: "b" origin { document: "Kind/x" path: "spec.users[7]" } } }
      init { os { time_zone { name: "UTC" } } }
    """
    spec = text_format.Parse(text, specpb.MachineBootstrapSpec())
    named = with_origins(spec)
    assert [user.origin.path for user in named.os.users] == ["spec.os.users[0]", "spec.users[7]"]
    assert named.init.os.time_zone.origin.path == "spec.init.os.timeZone"
    assert spec == text_format.Parse(text, specpb.MachineBootstrapSpec())
