"""Read a document of this provisioner, and give the MachineState: for `slipway conformance run --decode-cmd`."""

import json
import sys

document = json.load(sys.stdin)
files = [{**file, "content": {"data": file["content"]}} for file in document["files"]]
programs = [{"argv": document["run"], "start": "START_EVERY_BOOT"}] if document["run"] else []
state = {"features": ["os.files", "plan.entrypoint"], "os": {"files": files}, "programs": programs}
json.dump(state, sys.stdout)
