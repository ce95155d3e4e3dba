"""The provisioner of shell and awk, served as its page says."""

import contextlib
import shlex
import subprocess
import sys
from collections.abc import Iterator

from slipway.cli.processes import LOOPBACK
from slipway.rpc.addresses import free_port
from tests.integration.machines import EXAMPLE


@contextlib.contextmanager
def shell_provisioner() -> Iterator[str]:
    """Run the example provisioner as the process that it is; give its address."""
    address = f"{LOOPBACK}:{free_port()}"
    # As `slipway provisioner serve` does, without the other commands.
    serve = (sys.executable, "-c", "from slipway.program_provisioner.command import serve; serve()")
    options = ("--insecure", "--listen-address", address, "--exec", shlex.quote(str(EXAMPLE / "provisioner.sh")))
    process = subprocess.Popen([*serve, *options])
    try:
        yield address
    finally:
        process.kill()
        process.wait()
