"""OpenSCAP, a scanner of other people for the settings of an operating system, with the profiles for Debian 12.

It runs in a root of its own and looks into the tree of a machine: nothing of it comes onto the machine.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

from tools.oracles import roots
from tools.oracles.failures import EngineBroken

PROFILES = ("standard", "anssi_np_nt28_restrictive", "anssi_np_nt28_high")
"""Each profile of the scanner's content that has rules beyond those of the one before."""

_RESULTS = "/run/results.xml"
_CONTENT = "/usr/share/xml/scap/ssg/content/ssg-debian12-ds.xml"
_PREFIX = "xccdf_org.ssgproject.content_"
_NAMESPACE = {"xccdf": "http://checklists.nist.gov/xccdf/1.2"}
_SOME_RULE_FAILED = 2
_UNDECIDED = ("notselected", "notapplicable")


def scan(tree: Path, profile: str) -> dict[str, str]:
    """Judge the tree of a machine by a profile.

    Args:
        tree: its root directory; that of a machine that runs is found below ``/proc``.
        profile: one of ``PROFILES``.

    Returns:
        The result of each rule that applies to the machine, by the rule's short id: ``pass``, ``fail``, ``error`` ...

    Raises:
        EngineMissing: the root of the scanner was not built yet.
        EngineBroken: the scanner judged nothing.
    """
    root = roots.ROOTS["openscap"].require()
    scanner = (
        f"oscap xccdf eval --profile {_PREFIX}profile_{profile} --results {_RESULTS} {_CONTENT} >&2; "
        f"status=$?; cat {_RESULTS}; exit $status"
    )
    # The root stays as it is: what the scanner writes goes with its own mounts.
    mounts = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount -t proc proc "$1/proc" && '
    mounts += 'mount -t tmpfs tmpfs "$1/run" && mount -t tmpfs tmpfs "$1/tmp"'
    # By a descriptor, since a mount of another namespace cannot be mounted here.
    folder = os.open(tree, os.O_RDONLY | os.O_DIRECTORY)
    try:
        environment = f"OSCAP_PROBE_ROOT=/proc/self/fd/{folder} OSCAP_CPE_PATH={roots.PLATFORMS} PATH=/usr/bin:/bin"
        script = f"{mounts} && exec chroot \"$1\" env -i {environment} sh -c '{scanner}'"
        command = ["unshare", "--mount", "--propagation=private", "sh", "-c", script, "scan", str(root)]
        done = subprocess.run(command, check=False, capture_output=True, pass_fds=(folder,))
    finally:
        os.close(folder)
    if done.returncode not in {0, _SOME_RULE_FAILED}:
        raise EngineBroken(f"oscap: {done.stderr[-1000:].decode(errors='replace')}")
    results = {
        entry.get("idref", "").removeprefix(f"{_PREFIX}rule_"): entry.findtext("xccdf:result", "", _NAMESPACE)
        for entry in ET.fromstring(done.stdout).iterfind(".//xccdf:rule-result", _NAMESPACE)  # noqa: S314  # the scanner wrote it
    }
    judged = {rule: result for rule, result in results.items() if result not in _UNDECIDED}
    if not judged:
        raise EngineBroken(f"oscap: no rule of {profile} applies to the machine")
    return judged
