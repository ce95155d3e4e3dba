"""The descriptor set that comes with the package is all that a foreign tool needs, for refusals as well."""

from importlib.resources import files

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message_factory import GetMessageClass

from slipway.contract.errors import UnsupportedFeature


def pool() -> DescriptorPool:
    """Give a pool that knows what is in the set, and nothing else."""
    data = files("slipway.v1alpha1").joinpath("slipway.binpb").read_bytes()
    made = DescriptorPool()
    for file in FileDescriptorSet.FromString(data).file:
        made.Add(file)
    return made


def test_a_refusal_can_be_printed() -> None:
    """A status with all details that the contract has becomes JSON, the details included."""
    known = pool()
    error = UnsupportedFeature("m", violations=[("os.files[0]", "why")], metadata={"features": "f"}, retry_after=2)
    status = GetMessageClass(known.FindMessageTypeByName("google.rpc.Status"))()
    status.ParseFromString(error.to_status().SerializeToString())
    details = MessageToDict(status, descriptor_pool=known)["details"]
    assert [detail["@type"].rpartition(".")[2] for detail in details] == ["ErrorInfo", "BadRequest", "RetryInfo"]
    assert details[0]["reason"] == "UNSUPPORTED_FEATURE"
    assert details[1]["fieldViolations"] == [{"field": "os.files[0]", "description": "why"}]


@pytest.mark.parametrize("service", ["ProvisionerService", "RegistryService", "BootstrapService"])
def test_every_service_is_in_it(service: str) -> None:
    """A tool finds the services by their full names, together with all that they import."""
    assert pool().FindServiceByName(f"slipway.v1alpha1.{service}").methods
