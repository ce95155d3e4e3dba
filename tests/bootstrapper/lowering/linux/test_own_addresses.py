"""A machine adds its own addresses to NO_PROXY, which only it knows."""

import os
import subprocess
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.linux.systemd_units import environment_drop_in
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.lowered_systems import LowerSystem

VARIABLES = {"HTTP_PROXY": "http://u:p%@h:1", "NO_PROXY": 'localhost,a%b,q"\\'}
TWO = """\
2: eth0    inet 192.0.2.4/24 brd 192.0.2.255 scope global eth0\\       valid_lft forever preferred_lft forever
2: eth0    inet6 2001:db8::4/64 scope global dynamic \\       valid_lft 86000sec preferred_lft 14000sec
"""


@pytest.mark.parametrize(
    ("ip", "added"),
    [(f"cat <<'E'\n{TWO}E", ",192.0.2.4,2001:db8::4"), ("exit 0", ""), ("exit 1", "")],
    ids=["two", "none", "unknown"],
)
def test_the_list_goes_on(tmp_path: Path, ip: str, added: str) -> None:
    """Behind the drop-in of each service, in one of its own; a second run gives the same."""
    program = tmp_path / "ip"
    program.write_text(f"#!/bin/sh\n{ip}\n", encoding="utf-8")
    program.chmod(0o755)
    drop_ins = [tmp_path / name for name in ("10-slipway-proxy.conf", "20-slipway-proxy.conf")]
    before = environment_drop_in(VARIABLES)
    for path in drop_ins:
        path.write_bytes(before)
    text = script([["addresses", *map(str, drop_ins)]], programs=["addresses"])
    for _ in range(2):
        environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        done = subprocess.run(["sh"], input=text, capture_output=True, check=True, env=environment)
        assert bool(done.stderr) is (ip == "exit 1")
        for path in drop_ins:
            assert path.read_bytes() == before
            own = path.with_name(path.name.replace(".conf", ".own.conf"))
            wanted = environment_drop_in({"NO_PROXY": VARIABLES["NO_PROXY"] + added})
            assert own.read_bytes() == wanted
    assert sorted(path.name for path in tmp_path.glob("*.conf"))[1] == "10-slipway-proxy.own.conf"


@pytest.mark.parametrize("wanted", [True, False])
def test_services_get_it(lower: LowerSystem, wanted: bool) -> None:
    """Of the kubelet and of the container runtime; not where the list of the spec is complete."""
    proxy = ospb.Proxy(http_proxy="http://h:1", no_proxy=["localhost"], own_addresses=wanted or None)
    done = lower(ospb.OperatingSystem(proxy=proxy, containerd=ospb.Containerd(proxy=proxy)))
    calls = [line for text in done.scripts.values() for line in text.splitlines() if line.startswith("addresses /")]
    folder = "/etc/systemd/system/containerd.service.d"
    of_both = f"addresses {folder}/10-slipway-proxy.conf /etc/systemd/system/kubelet.service.d/10-slipway-proxy.conf"
    assert sorted(calls) == ([of_both, f"addresses {folder}/20-slipway-proxy.conf"] if wanted else [])
