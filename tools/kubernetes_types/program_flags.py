"""Writes the table of the kubelet's flags by Kubernetes version, as the real kubelets know them.

Run it when another kubelet is built: `python -m tools.kubernetes_types.kubelet_flags`. A flag that the help does not
show, as deprecated ones are hidden, is tried: the kubelet parses its flags before it shows its help.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tools.oracles.go_programs import PROGRAMS
from tools.repository import ROOT

TABLE = ROOT / "bootstrapper/slipway/bootstrapper/engines/kubelet_flags.json"
KUBELETS = {"1.30": "kubebox-1.30", "1.34": "kubebox-1.34"}
_SOURCE = (
    "the kubelets v1.30.5 and v1.34.10 for Linux, asked flag by flag (python -m tools.kubernetes_types.kubelet_flags)"
)
_FLAG = re.compile(r"^ +(?:-[a-z], )?--([a-z0-9-]+)", re.MULTILINE)


def shown_flags(series: str) -> set[str]:
    """Give the flags in a kubelet's help."""
    return set(_FLAG.findall(_help(series)))


def knows(series: str, flag: str) -> bool:
    """Report whether a kubelet has a flag."""
    return f"unknown flag: --{flag}" not in _help(series, f"--{flag}=1")


def known_flags(series: str, candidates: Iterable[str]) -> list[str]:
    """Give all flags of a kubelet among those of its help and further candidates."""
    shown = shown_flags(series)
    return sorted(shown | {flag for flag in set(candidates) - shown if knows(series, flag)})


def _help(series: str, *arguments: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        kubelet = Path(folder) / "kubelet"
        kubelet.symlink_to(PROGRAMS[KUBELETS[series]].require())
        command = [str(kubelet), *arguments, "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


def main() -> None:
    """Write the table; flags that one version had, or that are named as arguments, are tried with every kubelet."""
    earlier = json.loads(TABLE.read_text())["flags"].values()
    candidates = {flag for flags in earlier for flag in flags} | set(sys.argv[1:])
    for series in KUBELETS:
        candidates |= shown_flags(series)
    table = {"source": _SOURCE, "flags": {series: known_flags(series, candidates) for series in KUBELETS}}
    TABLE.write_text(json.dumps(table, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
