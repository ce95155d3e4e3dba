"""Options that only one bootstrap engine knows, and that come with it: an extension whose id the engine declares.

`engine_options` of the contract has the options of the engines that come with Slipway. An engine of another package
declares the feature "ext.ID" with an id under its own domain, and reads the extension from the bundle. Every other
engine and format refuses that extension.
"""

from slipway.bootstrapper.engines.engine import Engine
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb

PREFIX = "ext."
"""With it begin the features of extensions."""


def take_extensions(bundle: bundlepb.BootstrapBundle, engine: Engine) -> list[bootstrappb.Lowered]:
    """Remove the extensions that an engine declares, whose content its plan has; return them as what was lowered."""
    features = {support.id for support in engine.features}
    indices = [index for index, item in enumerate(bundle.extensions) if f"{PREFIX}{item.id}" in features]
    lowered = [
        bootstrappb.Lowered(
            feature=f"{PREFIX}{bundle.extensions[index].id}",
            field_path=f"extensions[{index}]",
            origin=bundle.extensions[index].origin,
            into=["os.files", "plan.entrypoint"],
        )
        for index in indices
    ]
    for index in reversed(indices):
        del bundle.extensions[index]
    return lowered
