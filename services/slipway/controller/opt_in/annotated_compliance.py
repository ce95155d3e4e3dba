"""The compliance profiles of a KubeadmConfig: an annotation holds what a SlipwayConfig has in `spec.compliance`."""

from slipway.contract.source_position import Position, SourceError
from slipway.contract.yaml_decode import fill
from slipway.contract.yaml_document import Shape, Source
from slipway.contract.yaml_limits import SHORT
from slipway.contract.yaml_source import load_documents
from slipway.controller.ownership import COMPLIANCE, annotation
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, Json
from slipway.v1alpha1 import spec_pb2 as specpb

_PLACE = ("metadata", "annotations", COMPLIANCE)


def compliance_of(config: Json) -> specpb.Compliance | None:
    """Read the annotation; None if the config has no such annotation.

    Raises:
        SourceError: it is no YAML, or holds something else than profiles and waivers; by field path.
    """
    if COMPLIANCE not in (config["metadata"].get("annotations") or {}):
        return None
    text = annotation(config, COMPLIANCE)
    source = Source("", Shape(Position(1, 1)))
    try:
        documents = load_documents(text, file="", limits=SHORT)
    except SourceError as error:
        raise SourceError(source.problem(_PLACE, problem.message) for problem in error.problems) from None
    if len(documents) != 1:
        raise SourceError([source.problem(_PLACE, "must be one mapping in YAML, with profiles and waivers")])
    compliance = specpb.Compliance()
    problems = fill(documents[0].value, compliance, path=_PLACE, document=KUBEADM_CONFIGS.kind)
    if problems:
        raise SourceError(source.problem(path, message) for path, message in problems)
    return compliance
