"""Contents in waves: downloads, secrets and machine facts, and what is refused before a machine is there."""

import hashlib

import pytest

from slipway.bootstrapper.lowering.runners.linux_plan import DOWNLOAD_RETRIES
from slipway.bootstrapper.lowering.runners.linux_stage import stage_files
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import SecretIndex
from slipway.contract.errors import BundleInvalid, UnsupportedFeature
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import fact, lowered, text
from tests.bootstrapper.lowering.runners.staging import file, install


def test_remote_content_is_verified_and_other_urls_are_tried(machine: LinuxMachine) -> None:
    """The first URL with the right hash serves; a wrong hash is as good as no answer."""
    good = b"the right bytes\n"
    digest = hashlib.sha256(good).hexdigest()
    body = 'for u; do :; done; while [ "$1" != -o ] && [ "$1" != -O ]; do shift; done\n'
    body += 'case $u in *dead*) exit 1;; *evil*) echo evil >"$2";; *) echo "the right bytes" >"$2";; esac'
    for client in ("curl", "wget"):
        machine.fake(client, body)
    urls = ["https://dead.example/x", "https://evil.example/x y", "https://good.example/x"]
    remote = file("/opt/tool", mode=0o755)
    remote.ClearField("content")
    remote.remote.CopyFrom(ospb.RemoteContent(urls=urls, sha256=digest.upper()))
    assert install(machine, Wave(id="files", files=(remote,))) == 0
    assert machine.path("/opt/tool").read_bytes() == good
    assert len([call for call in machine.calls if "example" in call]) == 3


def test_remote_content_that_no_url_gives_fails_the_phase(machine: LinuxMachine) -> None:
    """Without the right bytes there is no file."""
    for client in ("curl", "wget"):
        machine.fake(client, 'while [ "$1" != -o ] && [ "$1" != -O ]; do shift; done; echo evil >"$2"')
    remote = ospb.File(path="/opt/tool", owner="root", group="root", mode=0o755)
    remote.remote.CopyFrom(ospb.RemoteContent(urls=["https://me:secret@a.example/?key=secret"], sha512="0" * 128))
    assert install(machine, Wave(id="files", files=(remote,))) != 0
    assert not machine.path("/opt/tool").exists()
    assert (
        "a.example: no answer, or another content\n/opt/tool: no URL gave"
        in machine.path("/run/slipway/log").read_text()
    )
    calls = [call for call in machine.calls if call.startswith(("curl", "wget")) and "got.new" in call]
    assert len(calls) == 1 + DOWNLOAD_RETRIES
    assert all("-y 30 -Y 1" in call or "-T 30" in call for call in calls)


def test_a_download_stays_with_https(machine: LinuxMachine) -> None:
    """With a hash or without, no redirect leads from HTTPS to plain HTTP, and a URL with brackets is no pattern."""
    for client in ("curl", "wget"):
        machine.fake(client, 'while [ "$1" != -o ] && [ "$1" != -O ]; do shift; done; echo some >"$2"')
    remotes = [
        ospb.RemoteContent(urls=["https://[2001:db8::1]/{a,b}"]),
        ospb.RemoteContent(urls=["http://a.example/x"], sha256=hashlib.sha256(b"some\n").hexdigest()),
        ospb.RemoteContent(urls=["https://a.example/x"], sha256=hashlib.sha256(b"some\n").hexdigest()),
    ]
    files = [
        ospb.File(path=f"/opt/{number}", owner="root", group="root", mode=0o644, remote=one)
        for number, one in enumerate(remotes)
    ]
    assert install(machine, Wave(id="files", files=tuple(files))) == 0
    assert [machine.path(one.path).read_bytes() for one in files] == [b"some\n"] * 3
    free, hashed, both = (call.split() for call in machine.calls if call.startswith(("curl", "wget")))
    if free[0] == "curl":
        assert (free[free.index("--proto") + 1], hashed[hashed.index("--proto") + 1]) == ("=https", "=http,https")
        assert both[both.index("--proto") + 1] == "=https"
        assert "g" in free[1]
    else:
        assert "--max-redirect=0" in free
        assert "--max-redirect=0" in both
        assert not [word for word in hashed if "redirect" in word]
    assert free[-1] == "https://[2001:db8::1]/{a,b}"


def test_own_authorities_vouch_for_one_download(machine: LinuxMachine) -> None:
    """They count beside those of the system, with facts and secrets in them, and for no other file of the wave."""
    for client in ("curl", "wget"):
        keep = f"cat ca >>/kept 2>/dev/null; rm -f ca; echo {client} >>/client"
        machine.fake(client, keep + '; while [ "$1" != -o ] && [ "$1" != -O ]; do shift; done; echo some >"$2"')
    machine.path("/etc/ssl").mkdir()
    machine.path("/etc/ssl/cert.pem").write_text("of the system\n")
    reference = secretpb.SecretReference(name="pki", key="ca")
    secrets = SecretIndex([secretpb.Secret(name="pki", key="ca", value=b"of a secret\n")])
    own = contentpb.Content(segments=[text("own\n"), contentpb.Segment(secret_ref=reference)])
    remotes = [
        ospb.RemoteContent(urls=["https://a.example/x"], ca=own),
        ospb.RemoteContent(urls=["https://b.example/x"]),
    ]
    files = [
        ospb.File(path=f"/opt/{number}", owner="root", group="root", mode=0o644, remote=remote)
        for number, remote in enumerate(remotes)
    ]
    assert install(machine, Wave(id="files", files=tuple(files)), secrets=secrets) == 0
    assert [machine.path(file.path).read_bytes() for file in files] == [b"some\n"] * 2
    calls = [call for call in machine.calls if "example" in call]
    option = "--cacert ca" if calls[0].startswith("curl") else "--ca-certificate=ca"
    assert [option in call for call in calls] == [True, False]
    assert machine.path("/kept").read_text() == "of the system\nown\nof a secret\n"


def test_facts_in_authorities_are_found() -> None:
    """A machine fact in what vouches for a server is one that the machine has to find first."""
    kind = contentpb.FACT_KIND_REGION
    remote = ospb.RemoteContent(urls=["https://a.example/x"], ca=contentpb.Content(segments=[fact(kind)]))
    assert Wave(id="files", files=(ospb.File(path="/a", remote=remote),)).facts == {kind}


def test_secrets_stay_references_until_a_provisioner_writes_them(machine: LinuxMachine) -> None:
    """No lowered file holds the secret; the installed one does, at its place among the other parts."""
    reference = secretpb.SecretReference(name="db", key="password")
    secrets = SecretIndex([secretpb.Secret(name="db", key="password", value=b"pa'ss\nword")])
    content = contentpb.Content(segments=[text("p="), contentpb.Segment(secret_ref=reference), text("\n")])
    wave = Wave(id="files", files=(file("/etc/conf", content, mode=0o600),))
    assert not any(
        b"word" in one.SerializeToString() for one in stage_files(wave) if b"password" not in one.SerializeToString()
    )
    assert install(machine, wave, secrets=secrets) == 0
    assert machine.path("/etc/conf").read_bytes() == b"p=pa'ss\nword\n"


INVALID = [
    ("a newline in a path", Wave(id="w", files=(file("/etc/a\nb"),))),
    (
        "a newline in a link's target",
        Wave(id="w", links=(ospb.Link(path="/a", target="b\nc", owner="root", group="root"),)),
    ),
    ("a newline in an owner", Wave(id="w", files=(file("/etc/a", owner="a\nf 0777 /x"),))),
    ("a relative path", Wave(id="w", files=(file("etc/a"),))),
    ("the root itself", Wave(id="w", directories=(ospb.Directory(path="/", owner="root", group="root", mode=0o700),))),
    ("an id that is no word", Wave(id="../x", files=(file("/etc/a"),))),
]


@pytest.mark.parametrize(("reason", "wave"), INVALID, ids=[row[0] for row in INVALID])
def test_what_does_not_fit_the_list_is_refused(reason: str, wave: Wave) -> None:
    """Nothing that could become another order of the list gets into it, and the error holds no value."""
    with pytest.raises(BundleInvalid) as error:
        lowered([wave])
    assert "/etc/a" not in str(error.value), reason


def test_template_text_is_refused_with_its_origin() -> None:
    """Imported template text cannot be lowered; the error names the place and not the text."""
    template = contentpb.ExtensionText(id="cloud-init.slipway.dev/jinja", text="{{ hidden }}")
    content = contentpb.Content(segments=[contentpb.Segment(extension=template)])
    origin = diagnosticpb.Origin(document="KubeadmConfig/x", path="spec.files[0].content")
    with pytest.raises(UnsupportedFeature) as error:
        lowered([Wave(id="files", files=(file("/etc/a", content, origin=origin),))])
    assert error.value.violations[0].path == "KubeadmConfig/x: spec.files[0].content"
    assert "hidden" not in str(error.value)


def test_origins_are_kept() -> None:
    """Every staged part speaks of the item that it comes from, and says who made it."""
    origin = diagnosticpb.Origin(document="SlipwayConfig/x", path="spec.os.files[3]", made_by=["linux.files"])
    parts = list(stage_files(Wave(id="files", files=(file("/etc/a", origin=origin),))))
    assert parts[0].origin.path == "spec.os.files[3]"
    assert list(parts[0].origin.made_by) == ["linux.files", "runner"]


def test_facts_are_spliced_in_every_encoding(machine: LinuxMachine) -> None:
    """A machine fact stands raw, as a JSON string or in base64, exactly between its neighbours."""
    kind = contentpb.FACT_KIND_HOSTNAME
    encodings = (contentpb.SPLICE_ENCODING_RAW, contentpb.SPLICE_ENCODING_JSON_STRING, contentpb.SPLICE_ENCODING_BASE64)
    segments = [text("[")]
    for encoding in encodings:
        segments += [fact(kind, encoding), text("|")]
    content = contentpb.Content(segments=segments)
    assert install(machine, Wave(id="files", files=(file("/etc/name", content),))) == 0
    assert machine.path("/etc/name").read_text() == '[node-1.example|"node-1.example"|bm9kZS0xLmV4YW1wbGU=|'


def test_a_script_with_a_fact_is_put_together_on_the_machine(machine: LinuxMachine) -> None:
    """The step runs with the fact in its text, and runs again after a failure and a reboot."""
    machine.host_name = "node-1"
    content = contentpb.Content(
        segments=[text("echo '"), fact(contentpb.FACT_KIND_HOSTNAME), text("' >>/ran; [ -e /go ]")]
    )
    step = planpb.Step(
        id="join", phase=planpb.PHASE_BOOTSTRAP, command=planpb.Command(script=content, retry_on_boot=True)
    )
    assert install(machine, step) != 0
    machine.path("/go").touch()
    machine.boot()
    assert machine.run(["sh", "/var/lib/slipway/run"]) == 0
    assert machine.path("/ran").read_text() == "node-1\nnode-1\n"
