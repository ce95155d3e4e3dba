"""Runs the stages of cloud-init one after the other, each a process of its own, from modules that are loaded once.

``cloud-init`` spends most of a boot on loading its own modules, four times. This program stands in for that command on
the machine: it loads them, then forks for each stage and calls what the command calls, with the same words. It runs in
the machine's own Python, so it knows nothing of this repository; ``cloud_init`` hands it over as text.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import signal
import sys
import time

# What every stage loads in any case.
_MODULES = ("cloudinit.cmd.main", "cloudinit.config.schema", "cloudinit.sources.DataSourceNoCloud", "jsonschema")


def main() -> None:
    """Runs the stages of the order in the first argument; prints an answer for each, as a line of JSON.

    An order has the stages' arguments and the seconds that each of them may take; an answer has status, output in
    base64, and seconds.
    """
    order = json.loads(sys.argv[1])
    for name in _MODULES:
        importlib.import_module(name)
    answers = []
    for stage in order["stages"]:
        begun, held = time.monotonic(), os.memfd_create("output")
        child = os.fork()
        if not child:
            os.dup2(held, 1)
            os.dup2(held, 2)
            signal.alarm(order["seconds"])
            sys.argv = ["/usr/bin/cloud-init", *stage]
            sys.exit(importlib.import_module(_MODULES[0]).main())
        _, status = os.waitpid(child, 0)
        with os.fdopen(held, "rb") as output:
            output.seek(0)
            text = base64.b64encode(output.read()).decode()
        seconds = time.monotonic() - begun
        answers.append({"status": os.waitstatus_to_exitcode(status), "output": text, "seconds": seconds})
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
