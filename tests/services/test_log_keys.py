"""What services log: a key that is not on the allow-list of the process is dropped, and the line says too little."""

import ast
import importlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from slipway.controller import server as controller
from slipway.rpc.logs import ALLOWED_KEYS, configure_logging
from tools.repository import ROOT

_LEVELS = {"debug", "info", "warning", "error", "exception"}
PROCESSES = [
    ("slipway.controller.server", ("controller", "kubernetes_api", "embedded")),
    ("slipway.registry.server", ("registry",)),
    ("slipway.node_gateway.server", ("node_gateway", "reports")),
    ("slipway.directory_service.server", ("directory_service", "directory", "kubernetes_api")),
]


@pytest.fixture
def _restored() -> Iterator[None]:
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


def logged_keys(folder: Path) -> Iterator[tuple[str, str]]:
    """Give each key that a package logs, with where it does."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in _LEVELS and isinstance(node.func.value, ast.Name) and node.func.value.id == "_log":
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        yield keyword.arg, f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(("module", "packages"), PROCESSES)
def test_every_key_that_a_process_logs_is_written(module: str, packages: tuple[str, ...]) -> None:
    """No log call of its packages has a key that the allow-list drops; and no key is allowed that none uses."""
    allowed = set(importlib.import_module(module).LOG_KEYS)
    keys = [entry for name in packages for entry in logged_keys(ROOT / "services/slipway" / name)]
    assert [entry for entry in keys if entry[0] not in ALLOWED_KEYS | allowed] == []
    assert allowed <= {key for key, _ in keys}


@pytest.mark.usefixtures("_restored")
def test_a_cluster_out_of_reach_is_named_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """The line of the controller says which cluster, for which work, and how it failed."""
    configure_logging(log_format="json", extra_keys=controller.LOG_KEYS)
    structlog.get_logger().warning("workload cluster out of reach", work="reports", cluster="n/c", failure="Halt")
    entry = json.loads(capsys.readouterr().err)
    assert (entry["work"], entry["cluster"], entry["failure"]) == ("reports", "n/c", "Halt")
