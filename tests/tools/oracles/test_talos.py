"""Talos' own loader, validator and generator, newest and older: what they take and what they refuse."""

import pytest
import yaml

from tools.oracles import finding, talos
from tools.oracles.talos import Mode

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def worker(engine):
    """A worker's configuration that an old and a new Talos take, made by Talos."""
    engine("talos")
    return talos.generate("worker", contract="v1.11", version=talos.OLDER).encode()


@pytest.mark.parametrize("version", [talos.NEWEST, talos.OLDER])
@pytest.mark.parametrize("mode", list(Mode))
def test_generated_configuration_is_valid(worker, version, mode):
    """What Talos generates it also takes; the loaded type is the asked one."""
    loaded = talos.load(worker, version=version, mode=mode)
    assert (finding.errors(loaded.findings), loaded.machine_type) == ([], "worker")
    assert "/v1alpha1" in loaded.documents
    assert yaml.safe_load(loaded.config)["cluster"]["controlPlane"]["endpoint"] == "https://192.0.2.1:6443"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"machine:", b"machine:\n    surprise: 1", "unknown keys"),
        (b"machine:", b"machine: [", "decode error"),
        (b"endpoint: https://192.0.2.1:6443", b"endpoint: https://", "endpoint"),
    ],
)
def test_broken_configuration_is_flagged(worker, old, new, words):
    """An unknown key, broken YAML and an empty endpoint are refused with Talos' own words."""
    assert old in worker
    found = finding.errors(talos.validate(worker.replace(old, new, 1)))
    assert any(words in one.message for one in found)


def test_missing_parts_are_listed(engine):
    """Each missing part is a finding of its own."""
    engine("talos-1.13")
    found = [error.message for error in finding.errors(talos.validate(b"machine: {type: worker}\n"))]
    assert "cluster instructions are required" in found
    assert len(found) >= 3


def test_install_disk_only_on_metal(worker):
    """The modes differ: what has no install disk is refused on metal and taken in a cloud."""
    documents = [*yaml.safe_load_all(worker)]
    del documents[0]["machine"]["install"]
    config = yaml.safe_dump_all(documents).encode()
    assert finding.errors(talos.validate(config, mode=Mode.METAL))
    assert finding.errors(talos.validate(config, mode=Mode.CLOUD)) == []


def test_older_talos_refuses_newer_documents(engine):
    """A configuration for the newest Talos is refused by the older one: both must be asked."""
    engine("talos")
    config = talos.generate("worker", contract="v1.13").encode()
    assert finding.errors(talos.validate(config)) == []
    assert finding.errors(talos.validate(config, version=talos.OLDER))


def test_patch(worker):
    """A strategic merge patch is applied by Talos' own patcher before the check."""
    patch = b"machine:\n  sysctls:\n    vm.swappiness: '1'\n"
    loaded = talos.load(worker, patch=patch)
    assert yaml.safe_load(loaded.config)["machine"]["sysctls"] == {"vm.swappiness": "1"}
