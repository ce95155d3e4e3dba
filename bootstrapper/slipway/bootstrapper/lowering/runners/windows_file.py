"""Where things of Slipway's own lie on a Windows machine, and how they are written there.

All of it is below one folder, to which the runner gives access to Administrators and SYSTEM only.
"""

import json
from typing import Any

from slipway.bootstrapper.lowering.runners.linux_file import made_by_runner
from slipway.contract.content import literal
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb

ROOT = "C:\\ProgramData\\slipway"
RUN_PROGRAM = f"{ROOT}\\run.ps1"
INSTALL_PROGRAM = f"{ROOT}\\install.ps1"
PLAN = f"{ROOT}\\plan.json"

POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File")


def private_file(path: str, content: contentpb.Content, origin: diagnosticpb.Origin | None = None) -> ospb.File:
    """Give a file of the administrators'."""
    return ospb.File(path=path, content=content, owner="root", group="root", mode=0o600, origin=made_by_runner(origin))


def document(tree: Any) -> contentpb.Content:
    """Give a JSON document in ASCII, which every version of PowerShell reads in the same way."""
    return literal((json.dumps(tree, separators=(",", ":"), ensure_ascii=True) + "\n").encode("ascii"))
