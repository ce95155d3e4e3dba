"""ImportKubeadmConfig: an answer that would not fit into a message is an error that says so."""

import pytest

from slipway.bootstrapper.importing import MOST_BYTES, import_document
from slipway.contract.errors import ImportInvalid
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

pytestmark = pytest.mark.long

HEAD = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: k}\nspec:\n  files:\n"


def request(files: int) -> bootstrappb.ImportKubeadmConfigRequest:
    """Ask for a config whose files are full of machine facts, each of which becomes a part of its own."""
    text = "{{ ds.meta_data.local_hostname }}x" * 300
    written = "".join(f"    - path: /etc/names-{number}\n      content: '{text}'\n" for number in range(files))
    return bootstrappb.ImportKubeadmConfigRequest(document=f"{HEAD}{written}".encode())


def test_a_spec_that_grows_too_large_is_refused() -> None:
    """A document within the limits may become many times larger; the transport's own error would say nothing."""
    assert len(import_document(request(2)).spec.os.files) == 2
    large = request(120)
    assert len(large.document) < MOST_BYTES
    with pytest.raises(ImportInvalid, match="at most"):
        import_document(large)
