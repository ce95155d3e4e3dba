"""First process of a site: its namespaces hold the network between the machines, and all of their processes.

Run by ``keeper.py`` with the standard library only. When it ends, the kernel ends every machine, and mounts and network
are gone with it.
"""

import os
import signal
import subprocess
import sys

# The site has one of its own. There a machine's network namespace gets a name, and systemd-nspawn has locks and mounts
# by the machine's name, which may be one of another site's, too, and would stay on this machine.
_RUN = "/run"
NAMES = f"{_RUN}/netns"


def main() -> None:
    """Makes the network, says so, and buries orphans until it is killed."""
    signal.signal(signal.SIGCHLD, lambda *_: None)  # else sigwait would never hear of it
    for command in (
        ["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", _RUN],
        ["mkdir", NAMES],
        ["ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", "br0", "type", "bridge"],
        ["ip", "address", "add", sys.argv[1], "dev", "br0"],
        ["ip", "link", "set", "br0", "up"],
    ):
        subprocess.run(command, check=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    print("ready", flush=True)
    while signal.sigwait({signal.SIGCHLD}):
        _bury()


def _bury() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    main()
