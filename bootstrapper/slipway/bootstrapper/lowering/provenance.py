"""What the machine keeps of who configured it: /etc/slipway/bundle.json (design 5.9)."""

import json

from slipway.contract.content import literal
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb

LINUX = "/etc/slipway/bundle.json"
WINDOWS = "C:\\ProgramData\\slipway\\bundle.json"


def provenance_file(bundle: bundlepb.BootstrapBundle) -> ospb.File:
    """Give the file: the id of the bundle, and versions, passes and digest of its provenance. Nothing is secret."""
    made = bundle.provenance
    account = {
        "id": bundle.id,
        "bootstrapper": made.bootstrapper_version,
        "engine": made.engine,
        "provisioner": made.provisioner,
        "format": made.format,
        "passes": list(dict.fromkeys(made.passes)),
        "specDigest": made.spec_digest,
    }
    text = json.dumps(account, separators=(",", ":")) + "\n"
    windows = bundle.machine.target.os_family == clusterpb.OS_FAMILY_WINDOWS
    file = ospb.File(path=WINDOWS if windows else LINUX, owner="root", group="root", mode=0o644)
    file.content.CopyFrom(literal(text.encode()))
    file.origin.made_by.append("provenance")
    return file
