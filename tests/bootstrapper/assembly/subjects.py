"""A spec as it is checked, with a cluster and a machine around it."""

from slipway.contract.yaml_decode import decode
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb


def subject(text: str, role: clusterpb.Role.ValueType = clusterpb.ROLE_WORKER) -> bootstrappb.Subject:
    """Make a subject of a spec's YAML."""
    made = bootstrappb.Subject()
    document = load_documents(text, file="spec.yaml")[0]
    made.spec.CopyFrom(
        decode(document.value, specpb.MachineBootstrapSpec(), source=document.source, document="SlipwayConfig/x")
    )
    made.cluster.name = "demo"
    made.cluster.kubernetes_version = "v1.34.0"
    made.cluster.endpoint.host = "api.example.com"
    made.machine.name = "demo-0"
    made.machine.role = role
    return made
