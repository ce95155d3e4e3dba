"""Builds the engines: ``python -m tools.engines.build [NAME...]``, all of them without a name.

Each is built once, into the cache; a second call finds it there and does nothing.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Sequence

from tools.engines import cluster_api, go_programs, qemu_image, roots
from tools.engines.availability import GROUPS
from tools.engines.go_examples import EXAMPLES, build_example
from tools.node import store
from tools.node.flavours import FLAVOURS

BUILDERS: dict[str, Callable[[], object]] = {
    **{f"root-{name}": functools.partial(roots.build, root) for name, root in roots.ROOTS.items()},
    qemu_image.NAME: qemu_image.build,
    "shells": functools.partial(roots.install_packages, roots.SHELL_PACKAGES),
    **{name: functools.partial(go_programs.build, program) for name, program in go_programs.PROGRAMS.items()},
    **{name: functools.partial(build_example, example) for name, example in EXAMPLES.items()},
    **{one.name: functools.partial(cluster_api.build, one) for one in cluster_api.MANIFESTS.values()},
    **{f"node-store-{name}": functools.partial(store.build, flavour) for name, flavour in FLAVOURS.items()},
}


def main(arguments: Sequence[str]) -> int:
    """Builds the named engines in the order of ``BUILDERS``; 2 for an unknown name."""
    wanted: set[str] = set()
    for name in arguments or list(BUILDERS):
        if name not in BUILDERS and name not in GROUPS:
            print(f"unknown engine {name}; known: {', '.join((*BUILDERS, *GROUPS))}", file=sys.stderr)
            return 2
        wanted.update(GROUPS.get(name, (name,)))
    for name, build in BUILDERS.items():
        if name in wanted:
            start = time.monotonic()
            build()
            print(f"{name}: ready after {time.monotonic() - start:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
