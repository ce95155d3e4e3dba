"""Machines of Cluster API's docker provider: its own reader makes of our user data what it makes of today's."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.oracles import comparison, configs, docker, ours, today

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

NAMES = ("bare", "files", "kubeadm-v1beta2-old")
CONFIGS = {
    str(config): config
    for name in NAMES
    for config in configs.configs_of(configs.documents()[name], infrastructure="docker")
    if not (name.startswith("kubeadm") and config.role == "control-plane")
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_reader_makes_the_machine_of_today(name: str, engine: Callable[..., None]) -> None:
    """Nothing is left out or fails, kubeadm is found and made content, and the machines are the same."""
    engine("root-trixie", "kubeadm-provider")
    config = CONFIGS[name]
    with ThreadPoolExecutor(2) as pool:
        documents = (today.user_data(config), ours.render(config.question, "cloud-init").user_data)
        theirs, mine = pool.map(docker.boot, documents)
    found = comparison.everything(theirs, mine)
    assert [one.shown for one in comparison.unexplained(name, found)] == []
    (call,) = [one.argv for one in mine.calls if one.argv[0] == "kubeadm"]
    assert call[2] == "--ignore-preflight-errors=all"
