"""The files by which a first-boot system starts Slipway's entry point: whose they are, whichever system it is.

A second file of the same path is refused by one system and lost in another. A drop-in changes the unit itself. An
imported config keeps such a file as it is, with a warning: today's provider knows none of them.
"""

import re
from collections.abc import Iterator

from slipway.bootstrapper.assembly import paths
from slipway.contract.errors import Violation
from slipway.v1alpha1 import os_pb2 as ospb

_UNIT = re.compile(
    r"(?:/etc|/run|(?:/usr(?:/local)?)?/lib)/systemd/system(?:\.control|\.attached)?"
    r"/slipway-(?:bootstrap|resume)\.service(?P<drop_in>\.d(?:/.*)?)?"
)
"""In whichever folder systemd looks for it. Source: systemd.unit(5), "UNIT FILE LOAD PATH"."""

_PER_BOOT = "/var/lib/cloud/scripts/per-boot/slipway"
"""What cloud-init runs at the end of every boot."""

_DROP_IN = "write it as one of dropIns, in an entry of os.systemdUnits named slipway-bootstrap.service"
_OTHER_NAME = "choose another name for it"


def violations(os: ospb.OperatingSystem) -> Iterator[Violation]:
    """Give every entry of an operating system that has the path of such a file. Units are settled with the plan."""
    for entry in paths.entries(os):
        match = _UNIT.fullmatch(entry.path)
        why = "is the unit of the service that bootstraps the machine, which only Slipway writes" if match else ""
        if match and match["drop_in"]:
            why = "changes the unit of the service that bootstraps the machine, past the check of its drop-ins"
        elif entry.path == _PER_BOOT:
            why = "is the script that starts the bootstrap of the machine, which only Slipway writes"
        if why and not entry.is_unit:
            remedy = _DROP_IN if match and match["drop_in"] else _OTHER_NAME
            yield Violation(f"{entry.where}.path", why, remedy=remedy)
