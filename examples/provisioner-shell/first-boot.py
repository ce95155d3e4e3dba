"""A first-boot system in 20 lines: python3 first-boot.py USER_DATA puts the files there and runs the program."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys

document = json.loads(pathlib.Path(sys.argv[1]).read_bytes())
for file in document["files"]:
    path = pathlib.Path(file["path"])
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as handle:
        handle.write(base64.b64decode(file["content"]))
    shutil.chown(path, file["owner"], file["group"])
    path.chmod(file["mode"])
sys.exit(subprocess.run(document["run"], check=False).returncode)
