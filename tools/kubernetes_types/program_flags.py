"""Writes the table of the flags of Kubernetes' programs by version, as the real programs know them.

Run it when other ones are built: `python -m tools.kubernetes_types.program_flags`. A flag that the help does not
show, as deprecated ones are hidden, is tried: the programs parse their flags before they show their help. The
kubelet's flags of versions that are not built are read in its source (source_flags.py).
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tools.kubernetes_types.source_flags import SOURCES, kubelet_flags
from tools.oracles.go_programs import PROGRAMS
from tools.repository import ROOT

TABLE = ROOT / "bootstrapper/slipway/bootstrapper/engines/program_flags.json"
BUILDS = {"1.30": "kubebox-1.30", "1.34": "kubebox-1.34"}
NAMES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")
_SOURCE = (
    "the programs v1.30.5 and v1.34.10 for Linux, asked flag by flag; of other kubelets, the source of "
    f"{', '.join(f'v{version}' for series, version in SOURCES.items() if series not in BUILDS)} "
    "(python -m tools.kubernetes_types.program_flags)"
)
_FLAG = re.compile(r"^ +(?:-[a-z], )?--([a-z0-9-]+)", re.MULTILINE)


def shown_flags(program: str, series: str) -> set[str]:
    """Give the flags in a program's help."""
    return set(_FLAG.findall(_help(program, series)))


def knows(program: str, series: str, flag: str) -> bool:
    """Report whether a program has a flag."""
    return f"unknown flag: --{flag}" not in _help(program, series, f"--{flag}=1")


def known_flags(program: str, series: str, candidates: Iterable[str]) -> list[str]:
    """Give all flags of a program among those of its help and further candidates."""
    shown = shown_flags(program, series)
    return sorted(shown | {flag for flag in set(candidates) - shown if knows(program, series, flag)})


def _help(program: str, series: str, *arguments: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / program
        link.symlink_to(PROGRAMS[BUILDS[series]].require())
        command = [str(link), *arguments, "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


def _with_sources(flags_by_series: dict[str, list[str]]) -> dict[str, list[str]]:
    read = kubelet_flags()
    different = [series for series, flags in flags_by_series.items() if read[series] != flags]
    if different:
        sys.exit(f"the source of the kubelet {', '.join(different)} was read otherwise than the program answers")
    return read


def main() -> None:
    """Write the table; flags that one version had, or that are named as arguments, are tried with every program."""
    earlier = json.loads(TABLE.read_text())["flags"]
    flags = {}
    for program in NAMES:
        candidates = {flag for known in earlier.get(program, {}).values() for flag in known} | set(sys.argv[1:])
        for series in BUILDS:
            candidates |= shown_flags(program, series)
        flags[program] = {series: known_flags(program, series, candidates) for series in BUILDS}
    flags["kubelet"] = _with_sources(flags["kubelet"])
    TABLE.write_text(json.dumps({"source": _SOURCE, "flags": flags}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
