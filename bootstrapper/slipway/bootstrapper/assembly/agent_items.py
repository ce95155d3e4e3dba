"""The node agent as ordinary items of a bundle: a file that is downloaded, and a command that hands over to it.

No provisioner and no pass knows machineadm. The runner sees by the command's origin that it may have to hand over.
"""

from typing import Final

from slipway.bootstrapper.artifacts.agent import DOWNLOADED, ResolvedAgent
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.runners.step_data import HANDOVER, STEP_DATA
from slipway.contract.content import literal
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import plan_pb2 as planpb

_MODE: Final = 0o755


def add_agent(bundle: bundlepb.BootstrapBundle, agent: ResolvedAgent) -> None:
    """Put the agent's items into a neutral bundle; its command comes before those of the user."""
    origin = diagnosticpb.Origin()
    origin.CopyFrom(agent.origin)
    origin.made_by.append(HANDOVER)
    if agent.urls:
        file = bundle.os.files.add(path=DOWNLOADED, mode=_MODE, owner="root", group="root", origin=origin)
        file.remote.urls.extend(agent.urls)
        file.remote.sha256 = agent.sha256
        if agent.authorities.ByteSize() and any(url.startswith("https:") for url in agent.urls):
            file.remote.ca.CopyFrom(agent.authorities)
    call = ["agent", str(STEP_DATA), "required" if agent.required else "optional", *agent.paths]
    command = planpb.Command(script=literal(script([call], programs=["agent"])), origin=origin)
    bundle.commands.pre.insert(0, command)
