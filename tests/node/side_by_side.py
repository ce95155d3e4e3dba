"""Tests whose machines boot side by side: a machine that boots waits more than it works.

A test that asks for ``harbour`` or ``place`` stays a test like any other. But when the first one of a module is due,
all of them that were asked for are started, each in a thread of its own and ``AT_ONCE`` at a time; pytest, which comes
to them one after another, waits for the end of each and tells what became of it.
"""

import contextlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.node.harbour import Harbour
from tools.node import site

AT_ONCE = 5
"""Machines of one each, beside the control plane of the harbour; a module whose tests have more says its own number."""
_SHARED = pytest.StashKey[Mapping[str, Any]]()
_STARTED = pytest.StashKey[Future[None]]()


@dataclass(frozen=True)
class Port:
    """A harbour, and the modules with tests that are still to use it."""

    harbour: Harbour
    modules: set[pytest.Module | None]
    site: contextlib.ExitStack

    def leave(self, module: pytest.Module) -> None:
        """End the harbour after its last module: an idle control plane takes from the processors of all later tests."""
        self.modules.discard(module)
        if not self.modules:
            self.site.close()


@pytest.fixture(scope="session")
def port(request: pytest.FixtureRequest, engine: Any) -> Iterator[Port]:
    """The one control plane that the tests with a ``harbour`` share; it has its sentinel."""
    engine("node-1.34")
    modules = {item.getparent(pytest.Module) for item in request.session.items if "harbour" in _arguments(item)}
    with contextlib.ExitStack() as stack:
        yield Port(Harbour.built(stack.enter_context(site.opened())), modules, stack)


@pytest.fixture(scope="module")
def under_way(request: pytest.FixtureRequest, engine: Any) -> Iterator[None]:
    """All tests of the module that were asked for, started; none where other processes may have been asked for some."""
    engine("node-1.34")
    items = [item for item in request.session.items if item.getparent(pytest.Module) is request.node and _sails(item)]
    shared = {"engine": engine}
    shared_port = request.getfixturevalue("port") if any("harbour" in _arguments(item) for item in items) else None
    if shared_port:
        shared["harbour"] = shared_port.harbour
    request.node.stash[_SHARED] = shared
    with ThreadPoolExecutor(getattr(request.module, "AT_ONCE", AT_ONCE)) as pool:
        if _has_all(request.config):
            for item in items:
                item.stash[_STARTED] = pool.submit(_sail, item, shared)
        yield
        pool.shutdown(cancel_futures=True)
    if shared_port and _has_all(request.config):
        shared_port.leave(request.node)


@pytest.fixture
def harbour(under_way: None) -> None:
    """The harbour, with workers of the test's own, which end with it: given to the test in its thread."""


@pytest.fixture
def place(under_way: None) -> None:
    """An open site of the test's own: given to it in its thread."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Wait for the end of a test that was started."""
    if not _sails(pyfuncitem):
        return None
    started = pyfuncitem.stash.get(_STARTED, None)
    if started:
        del pyfuncitem.stash[_STARTED]  # a second try has machines of its own
        started.result()
    else:
        _sail(pyfuncitem, pyfuncitem.getparent(pytest.Module).stash[_SHARED])
    return True


def _arguments(item: pytest.Item) -> tuple[str, ...]:
    return item._fixtureinfo.argnames if isinstance(item, pytest.Function) else ()


def _sails(item: pytest.Item) -> bool:
    return bool({"harbour", "place"} & set(_arguments(item)))


def _has_all(config: pytest.Config) -> bool:
    """Whether this process runs all tests of a group: else the same machines would boot in each."""
    workers = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    return workers == 1 or bool(config.getoption("loadgroup", default=False))


def _sail(item: pytest.Function, shared: Mapping[str, Any]) -> None:
    """Run a test, with what pytest would give it."""
    given = {**shared, **(item.callspec.params if hasattr(item, "callspec") else {})}
    with contextlib.ExitStack() as stack:
        if "place" in _arguments(item):
            given["place"] = stack.enter_context(site.opened())
        if "harbour" in _arguments(item):
            given["harbour"] = stack.enter_context(shared["harbour"].berth())
        item.obj(**{name: given[name] for name in _arguments(item)})
