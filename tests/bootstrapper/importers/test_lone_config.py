"""One foreign config, as the service gets it: from anybody who may call, of any size that a message can have."""

import pytest

from slipway.bootstrapper.importers.lone_config import LIMITS, import_kubeadm_config
from slipway.contract.source_position import SourceError

HEAD = """apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfig
metadata: {name: a}
spec:
  preKubeadmCommands: """


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (HEAD + "[" + "a," * LIMITS.max_nodes + "]", f"more than {LIMITS.max_nodes} values"),
        (HEAD + "['" + "a" * LIMITS.max_characters + "']", f"larger than {LIMITS.max_characters} characters"),
    ],
    ids=["values", "characters"],
)
def test_too_large_documents_are_refused_before_they_are_read(document: str, message: str) -> None:
    """A document over a limit is refused with the limit in the message; its values never become anything."""
    with pytest.raises(SourceError, match=message):
        import_kubeadm_config(document)


def test_as_many_commands_as_a_config_may_have_are_read() -> None:
    """The limits are wide enough for every config that its own schema allows."""
    before, after = (f"[{text * 1000}]" for text in ("echo a,", "echo b,"))
    result = import_kubeadm_config(f"{HEAD}{before}\n  postKubeadmCommands: {after}")
    assert len(result.spec.commands.pre) == len(result.spec.commands.post) == 1000
