"""The spec field `agent`: an ordinary file by the digest of a signed manifest, for every provisioner alike."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from slipway.bootstrapper.artifacts.agent import DOWNLOADED, Artifacts
from slipway.bootstrapper.artifacts.catalogue import Catalogue
from slipway.bootstrapper.artifacts.settings import ArtifactSettings
from slipway.contract.errors import SlipwayError
from tests.bootstrapper.artifacts.releases import DIGEST, EXPIRES, key, public_file, release_folder, trust
from tests.bootstrapper.asking import asked, bootstrapper, check, question
from tests.bootstrapper.lowering.specs import PEM

ROOT = Path(__file__).resolve().parents[3]
KEY, FOREIGN = key(), key()
MIRRORS = ("https://a.example/slipway/", "http://b.example")
DOWNLOAD = "agent: {source: Download, version: 1.2.0}"


def spec(agent: str) -> str:
    """Give the spec of a worker of Debian."""
    target = "target: {osFamily: Linux, distribution: debian, osVersion: '12', infrastructure: metal}"
    return "{" + ", ".join(part for part in (target, agent) if part) + "}"


async def rendered(artifacts: Artifacts, agent: str, provisioner: str = "cloud-init") -> bytes:
    """Give a machine's user data."""
    one = replace(bootstrapper(), artifacts=artifacts)
    return (await one.user_data(asked(question(spec(agent)), provisioner))).user_data


def artifacts(tmp_path: Path, mirrors: tuple[str, ...] = MIRRORS, **more: Any) -> Artifacts:
    """Give what an operator hands out: release 1.2.0."""
    release_folder(tmp_path / "release", KEY)
    return Artifacts(Catalogue(tmp_path / "release/manifests", trust(KEY, **more)), mirrors)


async def refusal(one: Artifacts, agent: str, provisioner: str = "cloud-init") -> SlipwayError:
    """Give why a machine is refused."""
    with pytest.raises(SlipwayError) as caught:
        await rendered(one, agent, provisioner)
    check(caught.value)
    return caught.value


async def test_a_download_is_a_native_file_of_ignition(tmp_path: Path) -> None:
    """With one mirror, Ignition itself downloads it and checks the digest of the manifest."""
    document = json.loads(await rendered(artifacts(tmp_path, MIRRORS[:1]), DOWNLOAD, "ignition"))
    (file,) = [one for one in document["storage"]["files"] if one["path"] == DOWNLOADED]
    assert file["contents"]["source"] == f"https://a.example/slipway/sha256/{DIGEST}"
    assert file["contents"]["verification"]["hash"] == f"sha256-{DIGEST}"
    assert file["mode"] == 0o755


def texts_of(user_data: bytes) -> str:
    """Give the user data with what an Ignition config has in data URLs, compressed or not."""
    text = user_data.decode()
    if text.startswith("{"):
        for file in json.loads(text)["storage"]["files"]:
            text += text_of(file["contents"])
    return text


def text_of(resource: dict[str, str]) -> str:
    """Give what a resource of Ignition's has in its data URL."""
    with urlopen(resource["source"]) as answer:
        data: bytes = answer.read()
    return (gzip.decompress(data) if resource.get("compression") else data).decode()


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_mirrors_are_tried_in_the_operators_order(tmp_path: Path, provisioner: str) -> None:
    """The runner downloads it where the provisioner does not, from one mirror after the other."""
    text = texts_of(await rendered(artifacts(tmp_path), DOWNLOAD, provisioner))
    urls = [f"https://a.example/slipway/sha256/{DIGEST}", f"http://b.example/sha256/{DIGEST}"]
    assert [f"g sha256 {DIGEST} {url}" in text for url in urls] == [True, True]
    assert text.index(urls[0]) < text.index(urls[1])


async def test_authorities_of_the_mirrors_reach_the_machine(tmp_path: Path) -> None:
    """Ignition gets them for its one download; the runner for several, and none where no mirror has HTTPS."""
    own = replace(artifacts(tmp_path, MIRRORS[:1]), authorities=PEM)
    document = json.loads(await rendered(own, DOWNLOAD, "ignition"))
    (authority,) = document["ignition"]["security"]["tls"]["certificateAuthorities"]
    assert text_of(authority) == PEM
    text = texts_of(await rendered(replace(own, mirrors=MIRRORS), DOWNLOAD))
    assert text.index("c -") < text.index("g sha256")
    assert PEM.splitlines()[2] in text
    plain = await rendered(replace(own, mirrors=MIRRORS[1:]), DOWNLOAD)
    assert b"BEGIN CERTIFICATE" not in plain.partition(b"install.sh")[2]


async def test_a_spec_has_authorities_for_its_own_mirrors(tmp_path: Path) -> None:
    """They come in place of the operator's, for Ignition's own download and for the runner's."""
    own = replace(artifacts(tmp_path), authorities="of the operator")
    ca = json.dumps({"text": PEM})
    agent = f"{DOWNLOAD[:-1]}, urls: ['https://c.example'], ca: {ca}}}"
    document = json.loads(await rendered(own, agent, "ignition"))
    (authority,) = document["ignition"]["security"]["tls"]["certificateAuthorities"]
    assert text_of(authority) == PEM
    text = texts_of(await rendered(own, agent))
    assert PEM.splitlines()[2] in text
    assert "of the operator" not in text


@pytest.mark.parametrize("urls", ["", "urls: ['http://c.example'], "])
async def test_authorities_without_a_mirror_that_shows_a_certificate_are_refused(tmp_path: Path, urls: str) -> None:
    """Authorities of a spec are those of its own mirrors, and do not vouch for the operator's."""
    caught = await refusal(artifacts(tmp_path), f"{DOWNLOAD[:-1]}, {urls}ca: {json.dumps({'text': PEM})}}}")
    assert [violation.path for violation in caught.violations] == ["SlipwayConfig/k: spec.agent.ca"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nonsense", "--artifact-ca must be one or more"),
        (None, "cannot be read"),
        ("\xff", "must be one or more"),
        ("", "must be one or more"),
    ],
)
def test_authorities_of_the_mirrors_are_read_at_the_start(tmp_path: Path, text: str | None, problem: str) -> None:
    """A file that is not there, or has no certificates, ends the start and not the machines."""
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=problem):
        ArtifactSettings(artifact_ca=file)
    file.write_text(PEM)
    assert ArtifactSettings(artifact_ca=file).artifacts().authorities == PEM


async def test_a_specs_own_mirrors_come_instead(tmp_path: Path) -> None:
    """The operator's are not tried where the spec names some."""
    text = (await rendered(artifacts(tmp_path), f"{DOWNLOAD[:-1]}, urls: ['https://c.example']}}")).decode()
    assert f"https://c.example/sha256/{DIGEST}" in text
    assert "a.example" not in text


async def test_an_agent_of_the_image_needs_no_release() -> None:
    """Nothing is downloaded; the machine looks where images have it."""
    document = yaml.safe_load(await rendered(Artifacts(), "agent: {source: Image, required: false}"))
    contents = [str(write_file["content"]) for write_file in document["write_files"]]
    assert any(
        "optional /usr/local/bin/machineadm /opt/bin/machineadm /usr/bin/machineadm" in content for content in contents
    )
    assert not any("\ng sha256" in content for content in contents)


async def test_nothing_changes_for_who_asks_for_nothing(tmp_path: Path) -> None:
    """Without the field, or with None, user data are those of a bootstrapper without releases, byte for byte."""
    plain = await rendered(Artifacts(), "")
    assert await rendered(artifacts(tmp_path), "") == plain
    assert await rendered(artifacts(tmp_path), "agent: {source: None}") == plain
    assert b"machineadm" not in plain


async def test_what_no_trusted_manifest_has_is_refused(tmp_path: Path) -> None:
    """Each reason is in the error, at the field of the version, with something to do."""
    release_folder(tmp_path / "release", FOREIGN, version="1.3.0")
    one = artifacts(tmp_path)
    cases = [
        (one, DOWNLOAD.replace("1.2.0", "1.4.0"), "unknown-version"),
        (one, DOWNLOAD.replace("1.2.0", "1.3.0"), "unknown-key"),
        (artifacts(tmp_path, now=EXPIRES), DOWNLOAD, "expired"),
        (artifacts(tmp_path, minimum="1.2.1"), DOWNLOAD, "below-minimum"),
        (artifacts(tmp_path, mirrors=()), DOWNLOAD, "file-missing"),
        (Artifacts(), DOWNLOAD, "unknown-version"),
    ]
    for given, agent, reason in cases:
        error = await refusal(given, agent)
        assert (error.reason, error.metadata["artifact_reason"]) == ("ARTIFACT_REJECTED", reason)
        assert [violation.path for violation in error.violations] == ["spec.agent.version"]


async def test_a_platform_without_a_binary_is_refused(tmp_path: Path) -> None:
    """The digest of another architecture is never given."""
    one = replace(bootstrapper(), artifacts=artifacts(tmp_path))
    machine = question(spec(DOWNLOAD).replace("osFamily: Linux", "osFamily: Linux, architecture: riscv64"))
    with pytest.raises(SlipwayError) as caught:
        await one.user_data(asked(machine, "cloud-init"))
    assert caught.value.metadata["artifact_reason"] == "no-platform"


async def test_windows_has_no_agent(tmp_path: Path) -> None:
    """It is refused, not left out."""
    one = replace(bootstrapper(), artifacts=artifacts(tmp_path))
    with pytest.raises(SlipwayError, match="Windows"):
        await one.user_data(asked(question("{target: {osFamily: Windows}, " + DOWNLOAD + "}"), "windows"))


async def test_talos_has_no_agent(tmp_path: Path) -> None:
    """What takes no commands takes no agent: the refusal names the field of the spec."""
    one = replace(bootstrapper(), artifacts=artifacts(tmp_path))
    with pytest.raises(SlipwayError) as caught:
        await one.user_data(asked(question("{" + DOWNLOAD + "}"), "talos"))
    assert any("spec.agent" in violation.path for violation in caught.value.violations)


def test_no_provisioner_knows_machineadm() -> None:
    """Not a line below provisioners/ has its name, nor one of the passes; nor is a new feature needed."""
    sources = [
        *(ROOT / "provisioners").rglob("*"),
        *(ROOT / "bootstrapper/slipway/bootstrapper/lowering").rglob("*.py"),
    ]
    texts = [path.read_text(encoding="utf-8") for path in sources if path.suffix in {".py", ".ps1", ".sh"}]
    assert len(texts) > 100
    named = [text for text in texts if "machineadm" in text]
    # Only the module that says which step data machineadm executes.
    assert all("STEP_DATA: Final" in text for text in named)


def test_settings_name_keys_and_mirrors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come from the environment, in order; manifests without keys, broken keys and other URLs are refused."""
    keys = public_file(tmp_path / "release.pub", KEY)
    values = {"KEYS": str(keys), "MANIFESTS": str(tmp_path), "MIRRORS": ", ".join(MIRRORS), "MINIMUM_VERSION": "1.0.0"}
    for name, value in values.items():
        monkeypatch.setenv(f"SLIPWAY_ARTIFACT_{name}", value)
    one = ArtifactSettings().artifacts()
    assert one.mirrors == MIRRORS
    assert one.catalogue is not None
    assert len(one.catalogue.trust.keys) == 1
    wrong = [("KEYS", ""), ("KEYS", str(tmp_path / "none")), ("KEYS", __file__), ("MIRRORS", "ftp://x"),
             ("MIRRORS", 'https://a"b'), ("MINIMUM_VERSION", "new")]  # fmt: skip
    for name, value in wrong:
        with monkeypatch.context() as patch:
            patch.setenv(f"SLIPWAY_ARTIFACT_{name}", value)
            with pytest.raises(ValueError, match=r"artifact|must"):
                ArtifactSettings()
