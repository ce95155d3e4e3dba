"""Talos' own loader, validator and patcher judge what is rendered here."""

import pytest
import yaml

from tests.provisioners.talos import samples
from tests.provisioners.talos.patches import PATCHES
from tools.oracles import finding, talos

pytestmark = pytest.mark.engine

OLD = ("talos/v1.11", "talos/v1.10", "talos/v1.9")


@pytest.fixture(autouse=True)
def _needs_talos(engine):
    engine("talos")


@pytest.mark.parametrize("full", [False, True], ids=["least", "everything"])
@pytest.mark.parametrize("role", samples.ROLES)
@pytest.mark.parametrize("form", samples.FORMATS)
def test_talos_takes_it(form, role, full):
    """Every format, role and feature passes the newest Talos; the older formats the older Talos too."""
    text = samples.everything(role, mixed_override=form not in OLD) if full else ""
    keys = "rsa" if role == samples.ROLES[1] else "ec"
    config = samples.render(samples.bundle(role, text, version="v1.31.1", keys=keys), form).user_data
    for version in (talos.NEWEST, talos.OLDER) if form in OLD else (talos.NEWEST,):
        for mode in (talos.Mode.CLOUD, talos.Mode.CONTAINER):
            assert finding.errors(talos.validate(config, version=version, mode=mode)) == []


@pytest.mark.parametrize("form", ["talos/v1.13", "talos/v1.12"])
def test_an_older_talos_refuses_the_newer_formats(form):
    """The formats differ for a reason: without it one of them would do."""
    config = samples.render(samples.bundle(samples.ROLES[2], version="v1.31.1"), form).user_data
    assert finding.errors(talos.validate(config, version=talos.OLDER, mode=talos.Mode.CLOUD))


def test_metal_with_a_disk_is_valid():
    """The stricter mode, in which a machine installs itself."""
    bundle = samples.bundle(samples.ROLES[2])
    extension = bundle.extensions.add(id="talos.slipway.dev/patch", media_type="application/yaml")
    extension.content.segments.add(data=b"machine: {install: {disk: /dev/vda}}")
    config = samples.render(bundle, where=samples.target(infrastructure="metal")).user_data
    assert finding.errors(talos.validate(config, mode=talos.Mode.METAL)) == []


@pytest.mark.parametrize("form", ["talos/v1.13", "talos/v1.11"])
def test_talos_understands_the_values_that_were_meant(form):
    """Talos' own dump holds every value that was written, quoted and escaped texts included."""
    role = samples.ROLES[0]
    text = samples.everything(role, mixed_override=form not in OLD)
    config = samples.render(samples.bundle(role, text), form).user_data
    dump = talos.load(config, mode=talos.Mode.CLOUD, patch=b"machine: {}").config
    understood = list(yaml.safe_load_all(dump))
    for ours, theirs in zip(yaml.safe_load_all(config), understood, strict=True):
        assert _missing(ours, theirs) == []


def _missing(ours, theirs, path=""):
    """Give the paths of what is not there; Talos leaves empty values out and writes modes in its own way."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [hit for key, value in ours.items() for hit in _missing(value, theirs.get(key), f"{path}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [hit for i, value in enumerate(ours) for hit in _missing(value, theirs[i], f"{path}[{i}]")]
    if path.endswith(".permissions"):
        ours = f"0o{ours:o}"
    return [] if ours == theirs or (not ours and not theirs) else [path]


@pytest.mark.parametrize("name", sorted(PATCHES))
def test_a_patch_does_what_talos_own_patcher_does(name):
    """Talos patches the unpatched configuration; the result must be the one that is rendered here."""
    patch = PATCHES[name].encode()
    role = samples.ROLES[0]
    bundle = samples.bundle(role, samples.everything(role))
    plain = samples.render(bundle).user_data
    extension = bundle.extensions.add(id="talos.slipway.dev/patch", media_type="application/yaml")
    extension.content.segments.add(data=patch)
    ours = samples.render(bundle).user_data
    theirs = talos.load(plain, mode=talos.Mode.CLOUD, patch=patch).config
    assert talos.load(ours, mode=talos.Mode.CLOUD, patch=b"machine: {}").config == theirs
