"""Where things of Slipway's own lie on a Linux machine, and how they are written there.

They are all below one reserved folder, readable by root only, because any of them may hold a secret.
"""

from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb

ROOT = "/var/lib/slipway"
RUN_PROGRAM = f"{ROOT}/run"
INSTALL_PROGRAM = f"{ROOT}/install"
PLAN = f"{ROOT}/plan"

RUN = "/run/slipway"

SENTINEL_DIRECTORY = "/run/cluster-api"
SENTINEL = f"{SENTINEL_DIRECTORY}/bootstrap-success.complete"

MADE_BY = "runner"
"""How the runner's emitters call themselves in an origin."""


def root_file(
    path: str, content: contentpb.Content, origin: diagnosticpb.Origin | None = None, *, mode: int = 0o600
) -> ospb.File:
    """Give a file of root's."""
    return ospb.File(path=path, content=content, owner="root", group="root", mode=mode, origin=made_by_runner(origin))


def made_by_runner(origin: diagnosticpb.Origin | None) -> diagnosticpb.Origin:
    """Give a copy of an origin that says that the runner's emitters made this out of the item there."""
    made = diagnosticpb.Origin()
    if origin is not None:
        made.CopyFrom(origin)
    made.made_by.append(MADE_BY)
    return made
