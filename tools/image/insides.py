"""What a process can do inside a container, tried from within: settings that nobody tried may well be ignored."""

import json
from dataclasses import dataclass
from typing import Any

from tools.image.podman import podman

_PROBE = """
import json, os, socket
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
def can(path):
    try:
        os.close(os.open(path + "/.trial", os.O_CREAT | os.O_WRONLY)); os.unlink(path + "/.trial")
    except OSError:
        return False
    return True
def reaches():
    try:
        socket.create_connection(("192.0.2.1", 9), 1).close()
    except TimeoutError:
        return True
    except OSError:
        return False
    return True
keys = [os.path.join(folder, name) for folder, _, names in os.walk("/certs") for name in names if name == "tls.key"]
mode = os.stat("/certs/tls.key")
print(json.dumps({
    "uid": os.getuid(), "gid": os.getgid(), "capabilities": int(status["CapBnd"], 16), "seccomp": status["Seccomp"],
    "no_new_privileges": status["NoNewPrivs"],
    "writable": [path for path in ("/", "/opt/slipway", "/certs", "/tmp") if can(path)],
    "keys": len(keys), "key": [mode.st_uid, mode.st_gid, oct(mode.st_mode & 0o7777)], "outside": reaches(),
    "verbosity": os.environ.get("GRPC_VERBOSITY"),
}))
"""
_EXPECTED = {
    "uid": 65532,
    "gid": 65532,
    "capabilities": 0,
    "seccomp": "2",
    "no_new_privileges": "1",
    "writable": ["/tmp"],  # noqa: S108  # the containers' own
    "keys": 1,
    "key": [0, 65532, "0o640"],
    "verbosity": "NONE",
}


@dataclass(frozen=True, slots=True)
class Insides:
    """What was found in one container."""

    service: str
    found: dict[str, Any]

    def wrong(self, *, published: bool) -> dict[str, Any]:
        """Give what is not as it must be; only a `published` service may have a way out of its network."""
        wrong = {key: self.found[key] for key, value in _EXPECTED.items() if self.found[key] != value}
        if self.found["outside"] and not published:
            wrong["outside"] = True
        return wrong


def look(service: str, container: str) -> Insides:
    """Try it in a running container."""
    return Insides(service, json.loads(podman("exec", container, "python3", "-c", _PROBE)))


def foreign_lines(container: str) -> list[str]:
    """Give the lines of a container's log that are not JSON objects, both its outputs taken together."""
    lines = podman("logs", container, with_errors=True).splitlines()
    return [line for line in lines if not _is_object(line)]


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
