"""Builds the engines: ``python -m tools.oracles.build [NAME...]``, all of them without a name.

Each is built once, into the cache; a second call finds it there and does nothing. What comes from Debian's packages is
built beside what is compiled, since unpacking keeps one core busy at most; what needs both comes last.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from tools.node import store
from tools.node.flavours import FLAVOURS
from tools.oracles import browser, cluster_api, directory, go_programs, kube_bench, machineadm, qemu_image, roots
from tools.oracles.availability import GROUPS
from tools.oracles.go_examples import EXAMPLES, build_example

Builders = Mapping[str, Callable[[], object]]

_PACKAGES: Builders = {
    **{f"root-{name}": functools.partial(roots.build, root) for name, root in roots.ROOTS.items()},
    qemu_image.NAME: qemu_image.build,
    directory.NAME: directory.build,
    browser.NAME: browser.build,
    "shells": functools.partial(roots.install_packages, roots.SHELL_PACKAGES),
}
_COMPILED: Builders = {
    **{name: functools.partial(go_programs.build, program) for name, program in go_programs.PROGRAMS.items()},
    **{name: functools.partial(build_example, example) for name, example in EXAMPLES.items()},
    machineadm.NAME: machineadm.build,
    kube_bench.NAME: kube_bench.build,
    **{manifest.name: functools.partial(cluster_api.build, manifest) for manifest in cluster_api.MANIFESTS.values()},
}
_FROM_BOTH: Builders = {
    f"node-store-{name}": functools.partial(store.build, flavour) for name, flavour in FLAVOURS.items()
}
BUILDERS: Builders = {**_PACKAGES, **_COMPILED, **_FROM_BOTH}


def main(arguments: Sequence[str]) -> int:
    """Builds the named engines; 2 for an unknown name.

    Raises:
        EngineError: one could not be built; what was begun beside it has ended.
    """
    wanted: set[str] = set()
    for name in arguments or list(BUILDERS):
        if name not in BUILDERS and name not in GROUPS:
            print(f"unknown engine {name}; known: {', '.join((*BUILDERS, *GROUPS))}", file=sys.stderr)
            return 2
        wanted.update(GROUPS.get(name, (name,)))
    failed = threading.Event()
    with ThreadPoolExecutor() as beside:
        for lane in [beside.submit(_build, some, wanted, failed) for some in (_PACKAGES, _COMPILED)]:
            lane.result()
    _build(_FROM_BOTH, wanted, failed)
    return 0


def _build(some: Builders, wanted: set[str], failed: threading.Event) -> None:
    """Builds one after another, until one fails here or ``failed`` says that one did elsewhere."""
    for name, build in some.items():
        if name not in wanted or failed.is_set():
            continue
        start = time.monotonic()
        try:
            build()
        except BaseException:
            failed.set()
            raise
        print(f"{name}: ready after {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
