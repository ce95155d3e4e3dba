"""Runs inside the Windows root: cloudbase-init's own user data plugin, with everything that it does recorded.

Parsers and dispatch are cloudbase-init's; only its last step is replaced: what would run, write or change Windows is
noted. Standard input is the user data, standard output one JSON document.
"""

import base64
import json
import logging
import ntpath
import os
import sys
import types
from pathlib import Path
from typing import Any
from unittest import mock

# Programs in this file run under the root's own Python; its packages are not those of the project.
from cloudbaseinit import conf  # type: ignore[import-not-found]  # it is only in the oracle
from cloudbaseinit.metadata.services import base as metadata  # type: ignore[import-not-found]  # it is only in the oracle
from cloudbaseinit.osutils import factory  # type: ignore[import-not-found]  # it is only in the oracle
from cloudbaseinit.plugins.common import execcmd, userdata  # type: ignore[import-not-found]  # it is only in the oracle
from cloudbaseinit.plugins.common.userdataplugins.cloudconfigplugins import (  # type: ignore[import-not-found]  # it is only in the oracle
    write_files,
)

Record = list[dict[str, Any]]


class Cloud(metadata.BaseMetadataService):  # type: ignore[misc]  # it is only in the oracle
    """The cloud that hands out the user data under test."""

    def __init__(self, user_data: bytes, meta_data: dict[str, str]) -> None:
        super().__init__()
        self._user_data = user_data
        self._meta_data = meta_data

    def get_user_data(self) -> bytes:
        return self._user_data

    def get_instance_data(self) -> dict[str, Any]:
        return {"ds": {"meta_data": self._meta_data}, "v1": self._meta_data}

    def _get_data(self, path: str) -> bytes:
        raise metadata.NotExistingMetadataException(path)


class Windows:
    """The operating system layer: answers as a fresh Windows would, and notes what is asked of it."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def get_default_script_exec_header(self) -> str:
        return "#ps1_sysnative"

    def user_exists(self, _name: str) -> bool:
        return False

    def group_exists(self, name: str) -> bool:
        return name in {"Administrators", "Users"}

    def get_maximum_password_length(self) -> int:
        return 20  # Without a number here users fail, and only the log says so.

    def generate_random_password(self, length: int) -> str:
        return "p" * length

    def get_user_home(self, name: str) -> str:
        home = f"/root/home/{name}"
        Path(home).mkdir(parents=True, exist_ok=True)
        return home

    def set_host_name(self, name: str) -> bool:
        self._record.append({"do": "set_host_name", "arguments": [name]})
        return True

    def __getattr__(self, name: str) -> Any:
        def note(*arguments: object, **named: object) -> None:
            values = [str(value) for value in (*arguments, *named.values())]
            self._record.append({"do": name, "arguments": values})

        return note


class Listener(logging.Handler):
    """Keeps warnings and errors: much goes wrong in cloudbase-init that only its log tells."""

    def __init__(self, logged: list[dict[str, str]]) -> None:
        super().__init__(logging.WARNING)
        self._logged = logged

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else ""
        self._logged.append({"level": record.levelname, "message": f"{record.getMessage()} {cause}"})


def main() -> None:
    """Gives the dispatch of the user data on standard input."""
    record: Record = []
    logged: list[dict[str, str]] = []
    logging.getLogger().addHandler(Listener(logged))
    conf.CONF([], project="engine")
    system = Windows(record)

    def execute(command: Any, *_arguments: object) -> tuple[bytes, bytes, int]:
        script = Path(command.args[-1])  # The last argument of each way to run a script is its file.
        content = base64.b64encode(script.read_bytes()).decode()
        record.append({"do": "execute", "shell": type(command).__name__, "content": content})
        return b"", b"", int(os.environ.get("ENGINE_STATUS", "0"))

    def write(path: str, content: bytes, permissions: int = 0o644, open_mode: str = "wb") -> bool:
        encoded = base64.b64encode(content).decode()
        append = "a" in open_mode
        record.append({"do": "write_file", "path": path, "mode": permissions, "append": append, "content": encoded})
        return True

    windows_paths = types.SimpleNamespace(path=ntpath)
    answer: dict[str, Any] = {"error": ""}
    with (
        mock.patch.object(execcmd.BaseCommand, "execute", execute),
        mock.patch.object(factory, "get_os_utils", return_value=system),
        mock.patch.object(write_files, "_write_file", write),
        mock.patch.object(write_files, "os", windows_paths),
    ):
        cloud = Cloud(sys.stdin.buffer.read(), json.loads(os.environ["ENGINE_META_DATA"]))
        try:
            status, reboot = userdata.UserDataPlugin().execute(cloud, {})
            answer |= {"done": status == 1, "reboot": bool(reboot)}
        except Exception as failure:  # noqa: BLE001 whatever gets out of the plugin is its verdict
            answer["error"] = f"{type(failure).__name__}: {failure}"
    json.dump({**answer, "record": record, "log": logged}, sys.stdout)


if __name__ == "__main__":
    main()
