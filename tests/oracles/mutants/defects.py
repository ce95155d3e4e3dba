"""Defects of a renderer, as changes of what it has rendered.

Each changes one thing; all of a table are in one document, and a check must name every one of them.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Defect:
    """One defect.

    Attributes:
        reason: how it would come about.
        change: makes it, in a document's tree.
        shown: a word of what the check must say; without it anything will do.
    """

    reason: str
    change: Callable[[Any], None] = field(repr=False)
    shown: str = ""

    def __str__(self) -> str:
        return self.reason


TEST = "/etc/slipway-test"


def file_of(tree: Any, path: str) -> Any:
    """The entry of a file, in a cloud-config or in an Ignition config."""
    files = tree["write_files"] if "write_files" in tree else tree["storage"]["files"]
    return next(one for one in files if one["path"] == path)


def unit_of(tree: Any, name: str) -> Any:
    """The entry of a unit."""
    return next(one for one in tree["systemd"]["units"] if one["name"] == name)


def _link(tree: Any, path: str) -> Any:
    return next(one for one in tree["storage"]["links"] if one["path"] == path)


def user_of(tree: Any, name: str) -> Any:
    """The entry of a user, in either format."""
    users = tree["users"] if "users" in tree else tree["passwd"]["users"]
    return next(one for one in users if isinstance(one, dict) and one["name"] == name)


def _edit(tree: Any, path: str, change: Callable[[str], str]) -> None:
    file = file_of(tree, path)
    file["content"] = change(file["content"])


def _as_text(file: Any) -> None:
    """Plain text in place of base64, as YAML reads it: without the carriage return."""
    file["content"] = base64.b64decode(file.pop("encoding") and file["content"]).decode().replace("\r\n", "\n")


# cloud-init: what its own schema says of a document.
CLOUD_CONFIG_SCHEMA = [
    Defect(
        "a number where a text of permissions belongs", lambda t: file_of(t, f"{TEST}/empty").update(permissions=384)
    ),
    Defect("a key that is misspelt", lambda t: t.update(write_file=[])),
    Defect("a file without its path", lambda t: t["write_files"][0].pop("path")),
    Defect("a user that is a number", lambda t: t["users"].append(7)),
]
# cloud-init: what the machine is like.
CLOUD_CONFIG = [
    Defect(
        "mode as the digits of a decimal number",
        lambda t: file_of(t, f"{TEST}/script.sh").update(permissions="493"),
        f"{TEST}/script.sh",
    ),
    Defect("the final newline is lost", lambda t: _edit(t, f"{TEST}/header", str.rstrip), f"{TEST}/header"),
    Defect("the owner is ignored", lambda t: file_of(t, f"{TEST}/mixed.json").pop("owner"), f"{TEST}/mixed.json"),
    Defect("base64 is not said to be base64", lambda t: file_of(t, f"{TEST}/binary").pop("encoding"), f"{TEST}/binary"),
    Defect("CRLF becomes LF", lambda t: _as_text(file_of(t, f"{TEST}/deep/er/plain")), f"{TEST}/deep/er/plain"),
    Defect("permissions are left out", lambda t: file_of(t, f"{TEST}/empty").pop("permissions"), f"{TEST}/empty"),
    Defect("a user's shell is left out", lambda t: user_of(t, "runner").pop("shell"), "user runner"),
    Defect("a key is left out", lambda t: user_of(t, "root").pop("ssh_authorized_keys"), "user root"),
    Defect(
        "settings of the kernel are not applied",
        lambda t: _edit(t, "/var/lib/slipway/plan", lambda text: text.replace("70-sysctls prepare\n", "")),
        "sysctl",
    ),
    Defect("the time zone is left out", lambda t: t.pop("timezone"), "time zone"),
    Defect("a mount is left out", lambda t: t["mounts"].clear(), "mounts"),
]
# Each alone, since nothing is left to see behind it: the document as bytes.
CLOUD_CONFIG_WHOLE: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("the header of a template on a document that is none", lambda data: b"## template: jinja\n" + data),
    ("no header of a cloud-config", lambda data: data.replace(b"#cloud-config\n", b"", 1)),
]
# Ignition: what the parser of its spec says.
IGNITION_PARSER = [
    Defect("a mode as a text", lambda t: file_of(t, f"{TEST}/script.sh").update(mode="0755")),
    Defect("a relative path", lambda t: file_of(t, f"{TEST}/script.sh").update(path="etc/script.sh")),
    Defect("one path twice", lambda t: t["storage"]["files"].append({"path": f"{TEST}/script.sh"})),
    Defect("a unit without suffix", lambda t: unit_of(t, "mine.service").update(name="mine")),
    Defect("a version that no engine takes", lambda t: t["ignition"].update(version="3.99.0")),
    Defect("base64 that is none", lambda t: file_of(t, f"{TEST}/binary").update(contents={"source": "data:;base64,?"})),
]
# Ignition: what the machine is like.
IGNITION = [
    Defect(
        "mode as the digits of an octal number",
        lambda t: file_of(t, f"{TEST}/script.sh").update(mode=755),
        "script.sh",
    ),
    Defect(
        "the final newline is lost",
        lambda t: file_of(t, f"{TEST}/header").update(contents={"source": "data:,%23cloud-config%0Ausers:%20%5B%5D"}),
        f"{TEST}/header",
    ),
    Defect("the group is ignored", lambda t: file_of(t, f"{TEST}/mixed.json").pop("group"), f"{TEST}/mixed.json"),
    Defect(
        "content is encoded twice",
        lambda t: file_of(t, f"{TEST}/binary").update(contents={"source": "data:;base64,UVVFPQ=="}),
        f"{TEST}/binary",
    ),
    Defect(
        "a unit without [Install]",
        lambda t: unit_of(t, "mine.service").update(contents="[Service]\nType=oneshot\nExecStart=/bin/true\n"),
        "enabled mine.service",
    ),
    Defect("a unit is not disabled", lambda t: unit_of(t, "fstrim.timer").pop("enabled"), "disabled fstrim.timer"),
    Defect("a unit is not masked", lambda t: unit_of(t, "apt-daily.timer").pop("mask"), "masked apt-daily.timer"),
    Defect("a drop-in is left out", lambda t: unit_of(t, "ssh.service").pop("dropins"), "20-nice.conf"),
    Defect("a user's number is left out", lambda t: user_of(t, "ann").pop("uid"), "user ann"),
    Defect(
        "a link of another target",
        lambda t: next(one for one in t["storage"]["links"] if one["path"] == f"{TEST}/soft").update(
            target="/etc/motd"
        ),
        f"{TEST}/soft",
    ),
    Defect(
        "a file that is not overwritten is appended to",
        lambda t: file_of(t, "/etc/issue.net").update(append=[], contents={"source": "data:,x"}, overwrite=True),
        "/etc/issue.net",
    ),
]
