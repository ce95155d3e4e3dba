"""Takes away what an earlier demo wrote, and nothing that a person put into the same folder."""

import json
import re
import shutil
from pathlib import Path

ACCOUNT = "demo.json"
LOGS = "logs"
_FOLDER_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


def take_away(out: Path) -> None:
    """Remove the machines that the account of an earlier demo names, its logs and the account."""
    for machine in _machines(out / ACCOUNT):
        shutil.rmtree(out / machine, ignore_errors=True)
    shutil.rmtree(out / LOGS, ignore_errors=True)
    (out / ACCOUNT).unlink(missing_ok=True)


def _machines(account: Path) -> set[str]:
    try:
        entries = json.loads(account.read_text(encoding="utf-8"))["entries"]
        names = {str(entry["machine"]) for entry in entries}
    except (OSError, ValueError, TypeError, KeyError):
        return set()
    return {name for name in names if _FOLDER_NAME.fullmatch(name)}
