"""ImportKubeadmConfig: one foreign document in, our own document out."""

from slipway.bootstrapper.documents.native import write_config
from slipway.bootstrapper.importers.kubeadm_import import ImportResult, Surroundings
from slipway.bootstrapper.importers.lone_config import import_invalid, import_kubeadm_config
from slipway.contract.errors import ImportInvalid
from slipway.contract.grammars import grammars
from slipway.contract.source_position import SourceError
from slipway.contract.yaml_encode import dump
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

MOST_BYTES = 2 * 1024 * 1024
"""Most bytes of an imported spec, serialised: no bundle may have more, and the answer has to fit into one message."""

_UNNAMED = "imported"


def import_document(request: bootstrappb.ImportKubeadmConfigRequest) -> bootstrappb.ImportKubeadmConfigResponse:
    """Answer ImportKubeadmConfig.

    Raises:
        ImportInvalid: everything that is wrong with the document, by field path; or its spec is too large.
    """
    surroundings = Surroundings(control_plane_version=request.control_plane_version)
    try:
        result = import_kubeadm_config(request.document, surroundings)
    except SourceError as error:
        raise import_invalid(error) from None
    # The remarks first: a document may ask for one at every place.
    for size in (sum(diagnostic.ByteSize() for diagnostic in result.diagnostics), result.spec.ByteSize()):
        _check(size)
    document = as_document(result).encode()
    _check(len(document))
    return bootstrappb.ImportKubeadmConfigResponse(document=document, spec=result.spec, diagnostics=result.diagnostics)


def _check(size: int) -> None:
    """Check the size of a part of the answer.

    Raises:
        ImportInvalid: it is too large.
    """
    if size > MOST_BYTES:
        raise ImportInvalid(
            f"the document becomes a spec, or remarks, of {size} bytes; at most {MOST_BYTES} are allowed: "
            "make it smaller, for example by fewer machine facts in its texts"
        )


def as_document(result: ImportResult, *, name: str = "") -> str:
    """Write an imported spec as a document of kind SlipwayConfig.

    Its provisioner's format is pinned where something in it binds the config to the format that it was written for.
    """
    usable = name if grammars()["dns-subdomain"].check(name) else _UNNAMED
    return dump(write_config(usable, result.spec))
