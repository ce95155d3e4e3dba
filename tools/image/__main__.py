"""python -m tools.image build|lock|run|check|down: the image and the compose file with podman, for real."""

import argparse
import sys
import time

from tools.image import packages, podman
from tools.image.build import IMAGE, SUITES, base, build, by_digest, megabytes
from tools.image.check import check
from tools.image.compose import PROGRAM, Project
from tools.oracles import go_programs
from tools.oracles.failures import EngineError

_PROJECT = "slipway-image"


def main() -> int:
    """Do what the command line says; 1 when something is not as it must be, 2 when it could not be tried."""
    parser = argparse.ArgumentParser(prog="python -m tools.image", description="The image, with podman.")
    parser.add_argument("command", choices=("build", "lock", "run", "check", "down"))
    parser.add_argument("--base", help="base image, NAME@sha256:DIGEST; without it one is made from Debian's packages")
    parser.add_argument("--suite", choices=SUITES, default=SUITES[0], help="Debian release of that base")
    parser.add_argument("--name", default=IMAGE, help="name of the image")
    options = parser.parse_args()
    try:
        return _do(options)
    except EngineError as failure:
        print(failure, file=sys.stderr)
        return 2


def _do(options: argparse.Namespace) -> int:
    if options.command == "build":
        podman.install()
        go_programs.build(PROGRAM)
        foundation = options.base or by_digest(base(options.suite))
        started = time.monotonic()
        build(foundation, name=options.name)
        seconds, own = time.monotonic() - started, megabytes(options.name) - megabytes(foundation)
        print(f"{options.name}: {megabytes(options.name):.0f} MB, {own:.0f} MB over its base; built in {seconds:.0f} s")
        return 0
    if options.command == "lock":
        packages.write_lock(options.base or base(options.suite))
        print(f"{packages.LOCK}: review what changed, and commit it")
        return 0
    if options.command == "check":
        return 1 if check(options.name).wrong else 0
    with podman.api() as address:
        project = Project(_PROJECT, address=address, environment={"SLIPWAY_IMAGE": options.name})
        if options.command == "down":
            project.down()
        else:
            project.up()
            print("bootstrapper with all provisioners at 127.0.0.1:9441; `python -m tools.image down` ends it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
