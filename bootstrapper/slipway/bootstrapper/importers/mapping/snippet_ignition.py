"""Settings of Ignition itself in a Container Linux Config: they go to Ignition as they are, in its own extension.

Its keys are those of specification 3.0; source: coreos/ign-converter, translate/v23tov30 (append becomes merge).
"""

import json
import re
from typing import Any

from slipway.bootstrapper.importers.container_linux_types import Ignition, Reference
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.bootstrapper.importers.mapping.snippet_disks import EXTENSION
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import spec_pb2 as specpb

_URL = re.compile(r"(?:https?|tftp|s3|data):.")
_REPLACED = "takes the place of this whole config, kubeadm included: leave it out, or write it to append"


def set_ignition(context: Context, place: Place, ignition: Ignition, spec: specpb.MachineBootstrapSpec) -> None:
    """Carry over what stands at a place."""
    if ignition.config.replace is not None:
        context.findings.refuse(place.within(f"{place.inner}.config.replace"), _REPLACED)
    authorities = _references(
        context,
        place.within(f"{place.inner}.security.tls.certificate_authorities"),
        ignition.security.tls.certificate_authorities,
    )
    appended = _references(context, place.within(f"{place.inner}.config.append"), ignition.config.append)
    seconds = {
        "httpResponseHeaders": ignition.timeouts.http_response_headers,
        "httpTotal": ignition.timeouts.http_total,
    }
    timeouts = {name: value for name, value in seconds.items() if value is not None}
    settings: dict[str, Any] = {
        **({"timeouts": timeouts} if timeouts else {}),
        **({"security": {"tls": {"certificateAuthorities": authorities}}} if authorities else {}),
        **({"config": {"merge": appended}} if appended else {}),
    }
    if settings:
        config = {"ignition": {"version": "3.0.0", **settings}}
        content = contentpb.Content(text=json.dumps(config, ensure_ascii=False))
        spec.extensions.add(id=EXTENSION, media_type="application/json", content=content, origin=place.origin())


def _references(context: Context, place: Place, references: list[Reference]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for index, reference in enumerate(references):
        if _URL.match(reference.source) is None:
            here = place.within(f"{place.inner}[{index}].source")
            context.findings.refuse(here, "must be a URL that begins with http, https, tftp, s3 or data")
        known = reference.verification and reference.verification.hash
        verification = {"verification": {"hash": f"{known.function}-{known.sum}"}} if known else {}
        made.append({"source": reference.source, **verification})
    return made
