"""What services hold in memory: packages that only some settings need are imported with these settings, not before."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

_PROGRAM = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
json.dump(sorted({name.partition(".")[0] for name in sys.modules}), sys.stdout)
"""
_LARGE = frozenset({"kubernetes", "ldap3", "obstore", "opentelemetry", "pygments", "requests", "rich", "urllib3"})
"""Packages of some MiB: clients of what is configured seldom, and what draws on terminals."""
_OF_CONTROLLER = frozenset({"aiohttp", "jinja2", "re2"})


@pytest.mark.parametrize(
    ("module", "never"),
    [
        ("slipway.controller.__main__", _LARGE | {"jinja2"}),
        ("slipway.registry.__main__", _LARGE | _OF_CONTROLLER),
        ("slipway.bootstrap_server.__main__", _LARGE | {"aiohttp", "jinja2"}),
        *(
            (f"slipway.provisioners.{name}.__main__", _LARGE | _OF_CONTROLLER)
            for name in ("cloud_init", "ignition", "talos", "windows")
        ),
    ],
)
def test_a_service_imports_no_large_package_that_it_may_never_use(module: str, never: frozenset[str]) -> None:
    """Each of them is 1 to 25 MiB of every process, and up to a second of CPU at its start."""
    command = [sys.executable, "-c", _PROGRAM, module]
    done = subprocess.run(command, capture_output=True, check=True, timeout=110, env={**os.environ, "PYTHONPATH": ""})
    imported = set(json.loads(done.stdout))
    assert "grpc" in imported
    assert sorted(imported & never) == []
