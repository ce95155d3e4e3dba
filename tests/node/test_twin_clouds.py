"""Control planes of our examples for clouds, imported and in our own words: the same nodes of the same cluster.

On AWS a second control plane joins, and on Flatcar a pool. Ignition boots the machines of Flatcar, cloud-init the
others.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.node import examples, metadata, node_state
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tests.node.twins import TWINS, Twin
from tools.node import site

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

AT_ONCE = 2  # machines
SECONDS = 300.0


def looked_at(text: str, variables: Mapping[str, str], twin: Twin) -> dict[str, Any]:
    """Boot the machines that a text describes, and look at them when all are Ready."""
    rendering = Rendering(text, variables)
    with site.opened() as place:
        metadata.serve(place)
        # The data source and the metadata service of a cloud agree.
        called = metadata.name_of if twin.cloud_names else None
        machines = {name: place.machine(name, flavour=twin.flavour.name, cloud_name=called) for name in twin.machines}
        for name, machine in machines.items():
            machine.boot(rendering.user_data(name, twin.by), by=twin.by)
        for machine in machines.values():
            machine.wait_sentinel(timeout=SECONDS)
        nodes = {name: metadata.name_of(one.address) if twin.cloud_names else name for name, one in machines.items()}
        first = next(iter(machines.values()))
        wait_ready(first, *nodes.values())
        return {
            "cluster": node_state.of_settings(first),
            **{
                name: {**node_state.of_machine(one), **node_state.of_node(first, nodes[name], one.address)}
                for name, one in machines.items()
            },
        }


@pytest.mark.parametrize("example", TWINS)
def test_machines_of_an_example_are_the_same_nodes_as_their_native_twins(engine: Any, example: str) -> None:
    """Arguments, files, manifests, users, units, labels, taints and what kubeadm keeps of the cluster are equal."""
    twin = TWINS[example]
    engine(f"node-{twin.flavour.name}")
    texts = (examples.text(examples.read(example, twin.flavour)), twin.native(example))
    variables: tuple[Mapping[str, str], ...] = (examples.variables(twin.flavour), {})
    with ThreadPoolExecutor(AT_ONCE // len(twin.machines)) as pool:
        theirs, ours = pool.map(looked_at, texts, variables, (twin, twin))
    for name, machine in twin.machines.items():
        said = {f"--{one['name']}={one['value']}" for one in machine.native["kubernetes"]["node"]["kubeletArguments"]}
        assert said <= set(theirs[name]["kubelet"])
        runs = [component for component in node_state.COMPONENTS if theirs[name][component]]
        assert runs == ([] if machine.role == "Worker" else list(node_state.COMPONENTS))
        assert theirs[name] == ours[name]
    assert theirs["cluster"] == ours["cluster"]
