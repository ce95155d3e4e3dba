"""Waves on Linux: staged items, installed for real in dash, bash and busybox."""

import hashlib
import os
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.linux_plan import DOWNLOAD_RETRIES
from slipway.bootstrapper.lowering.runners.linux_stage import stage_files
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import SecretIndex, literal
from slipway.contract.errors import BundleInvalid, UnsupportedFeature
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import PREPARE, STATE, fact, lowered, note, text

EVERY_BYTE = bytes(range(256)) + b"\r\n no final newline {{ x }} ${y}"


def file(path: str, content: bytes | contentpb.Content = b"x\n", **more: object) -> ospb.File:
    """Give a file as a bundle holds it."""
    whole = literal(content) if isinstance(content, bytes) else content
    return ospb.File(**{"path": path, "content": whole, "owner": "root", "group": "root", "mode": 0o644, **more})


def install(machine: LinuxMachine, *items: planpb.Step | Wave, secrets: SecretIndex | None = None) -> int:
    """Lower, write and run; give the exit code."""
    result = lowered(items)
    machine.write(result.files, secrets)
    return machine.run(result.entrypoint.argv)


def access(path: Path) -> tuple[int, int, int]:
    """Give mode, owner and group."""
    status = path.lstat()
    return status.st_mode & 0o7777, status.st_uid, status.st_gid


def test_files_get_content_mode_and_owner(machine: LinuxMachine) -> None:
    """Content arrives byte for byte; mode (with set-id bits) and owner are those asked for."""
    files = (
        file("/etc/every", EVERY_BYTE),
        file("/etc/empty", b""),
        file("/home/alice/own", owner="alice", group="staff", mode=0o640),
        file("/opt/tool", mode=0o4755),
    )
    assert install(machine, Wave(id="files", files=files)) == 0
    assert machine.path("/etc/every").read_bytes() == EVERY_BYTE
    assert machine.path("/etc/empty").read_bytes() == b""
    assert access(machine.path("/home/alice/own")) == (0o640, 1000, 50)
    assert access(machine.path("/opt/tool")) == (0o4755, 0, 0)


def test_a_wave_is_on_the_disk_before_its_mark(machine: LinuxMachine) -> None:
    """A power cut never leaves a mark that says that files are there which are not."""
    if machine.shell == "busybox":
        pytest.skip("the shell of busybox has its own sync, of which there is no fake")
    machine.fake("sync", f'echo "$(cat /etc/here): $(echo $(ls {STATE}))" >>/synced')
    assert install(machine, Wave(id="w", files=(file("/etc/here", b"here"),))) == 0
    expected = ["here: ", "here: w.installed", "here: w w.installed"]
    assert machine.path("/synced").read_text().splitlines() == expected


def test_missing_parents_are_made_and_existing_ones_left_alone(machine: LinuxMachine) -> None:
    """New parents are root's with mode 0755, even those of a private file of a user."""
    machine.path("/etc/tight").mkdir(mode=0o700)
    machine.path("/etc/tight").chmod(0o700)
    files = (file("/etc/new/deep/f", owner="alice", group="alice", mode=0o600), file("/etc/tight/g"))
    assert install(machine, Wave(id="files", files=files)) == 0
    assert [access(machine.path(path)) for path in ("/etc/new", "/etc/new/deep")] == [(0o755, 0, 0)] * 2
    assert access(machine.path("/etc/tight"))[0] == 0o700


def test_directories_and_links(machine: LinuxMachine) -> None:
    """Directories get mode and owner, also when they exist; links point where they should."""
    machine.path("/srv").mkdir()
    machine.path("/etc/stale").write_text("old")
    wave = Wave(
        id="files",
        directories=(
            ospb.Directory(path="/srv/", owner="alice", group="staff", mode=0o1777),
            ospb.Directory(path="/srv/a/b", owner="root", group="root", mode=0o700),
        ),
        files=(file("/srv/a/b/target"),),
        links=(
            ospb.Link(path="/etc/stale", target="../srv/a b", owner="alice", group="alice"),
            ospb.Link(path="/etc/dash", target="- x", owner="root", group="root"),
            ospb.Link(path="/etc/same", target="/srv/a/b/target", hard=True, owner="root", group="root"),
        ),
    )
    assert install(machine, wave) == 0
    assert access(machine.path("/srv")) == (0o1777, 1000, 50)
    assert access(machine.path("/srv/a"))[0] == 0o755
    assert access(machine.path("/srv/a/b"))[0] == 0o700
    assert machine.path("/etc/stale").readlink() == Path("../srv/a b")
    assert access(machine.path("/etc/stale"))[1] == 1000
    assert machine.path("/etc/dash").readlink() == Path("- x")
    assert machine.path("/etc/same").samefile(machine.path("/srv/a/b/target"))


def test_append_keeps_mode_and_owner_and_makes_what_is_missing(machine: LinuxMachine) -> None:
    """An existing file keeps its mode and owner; a missing one gets those asked for."""
    old = machine.path("/etc/old")
    old.write_bytes(b"first\n")
    old.chmod(0o600)
    os.chown(old, 1000, 50)
    files = (
        file("/etc/old", b"second\n", append=True),
        file("/etc/old", b"third\n", append=True),
        file("/etc/fresh", b"only\n", append=True, mode=0o640),
        file("/etc/both", b"a\n"),
        file("/etc/both", b"b\n", append=True),
    )
    assert install(machine, Wave(id="files", files=files)) == 0
    assert old.read_bytes() == b"first\nsecond\nthird\n"
    assert access(old) == (0o600, 1000, 50)
    assert machine.path("/etc/fresh").read_bytes() == b"only\n"
    assert access(machine.path("/etc/fresh"))[0] == 0o640
    assert machine.path("/etc/both").read_bytes() == b"a\nb\n"


@pytest.mark.parametrize("killed_after", range(1, 11))
def test_an_interrupted_wave_ends_in_the_same_tree(machine: LinuxMachine, killed_after: int) -> None:
    """Wherever the power goes, a second run leaves every file as if there had been one run: nothing appended twice."""
    if machine.shell == "busybox":
        pytest.skip("there can be no fake of cat")
    machine.path("/etc/old").write_bytes(b"0\n")
    files = (
        file("/etc/old", b"1\n", append=True),
        file("/etc/fresh", b"1\n", append=True),
        file("/etc/old", b"2\n", append=True),
        file("/etc/plain", b"1\n"),
    )
    # `cat` is called for parts, saved originals and targets: dying in the n-th call stops at every kind of place.
    machine.fake(
        "cat", f'/usr/bin/cat "$@"\n[ -e /again ] || [ "$(grep -c ^cat /calls)" -ne {killed_after} ] || kill -9 $PPID'
    )
    result = lowered([Wave(id="files", files=files)])
    machine.write(result.files)
    machine.run(result.entrypoint.argv)
    machine.path("/again").touch()
    # Only the installer was killed: unlike after a power cut, the runner has seen a failure.
    assert machine.path(f"{STATE}/files.failed").exists()
    machine.path(f"{STATE}/files.stop").unlink()
    machine.boot()
    assert machine.run(result.entrypoint.argv) == 0
    assert machine.path("/etc/old").read_bytes() == b"0\n1\n2\n"
    assert machine.path("/etc/fresh").read_bytes() == b"1\n"
    assert machine.path("/etc/plain").read_bytes() == b"1\n"
    assert not list(machine.root.rglob(".slipway-new"))


def test_staged_contents_are_private_and_do_not_outlive_their_use(machine: LinuxMachine) -> None:
    """Staged files are root's alone before, and gone after they were installed."""
    result = lowered([Wave(id="files", files=(file("/etc/a", b"content"),))])
    machine.write(result.files)
    staged = [one for one in result.files if "/stage/" in one.path]
    assert staged
    assert {one.mode for one in staged} == {0o600}
    assert machine.run(result.entrypoint.argv) == 0
    assert not list(machine.path("/var/lib/slipway/stage").iterdir())


def test_hostile_paths(machine: LinuxMachine) -> None:
    """Blanks at both ends, quotes, dollars, stars, dashes and Unicode in a path are a part of its name."""
    names = [" a b ", "$(touch /pwned)", "`id`", "'q\"", "*", "-rf", "back\\slash", "ünï 漢字 🚀", "tab\there", "#x"]
    files = tuple(file(f"/data/{name}/{name}", name.encode()) for name in names)
    assert install(machine, Wave(id="files", files=files)) == 0
    for name in names:
        assert machine.path(f"/data/{name}/{name}").read_bytes() == name.encode()
    assert not machine.path("/pwned").exists()


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(machine: LinuxMachine) -> None:
    """What the link points to stays as it was."""
    machine.path("/etc/shared").write_text("shared")
    machine.path("/etc/mine").symlink_to("/etc/shared")
    machine.path("/etc/folder").symlink_to("/home")
    assert install(machine, Wave(id="files", files=(file("/etc/mine", b"mine"), file("/etc/folder")))) == 0
    assert machine.path("/etc/folder").read_bytes() == b"x\n"
    assert not list(machine.path("/home").iterdir())
    assert machine.path("/etc/shared").read_text() == "shared"
    assert not machine.path("/etc/mine").is_symlink()
    assert machine.path("/etc/mine").read_bytes() == b"mine"


def test_a_file_that_can_not_be_renamed_over_is_written_in_place(machine: LinuxMachine) -> None:
    """A bind mount, such as a container's /etc/hosts, refuses the rename: it is written in place."""
    target = machine.path("/etc/hosts")
    target.write_text("old")
    inode = target.stat().st_ino
    machine.mounted.append("/etc/hosts")
    assert install(machine, Wave(id="files", files=(file("/etc/hosts", b"new\n", mode=0o640),))) == 0
    assert target.read_text() == "new\n"
    assert target.stat().st_ino == inode
    assert access(target)[0] == 0o640


def test_labels_are_restored_on_files_and_new_parents(machine: LinuxMachine) -> None:
    """Where restorecon is present it is called for each item and for parents that were made."""
    assert install(machine, Wave(id="files", files=(file("/opt/bin/tool"),))) == 0
    labels = [call for call in machine.calls if call.startswith("restorecon")]
    assert labels == ["restorecon -R /opt", "restorecon /opt/bin/tool"]


FAILING = [
    ("unknown owner", (file("/etc/a", owner="nobody-knows"),), ()),
    ("a directory stands there", (file("/etc"),), ()),
    (
        "a directory stands where a link should be",
        (),
        (ospb.Link(path="/etc", target="/x", owner="root", group="root"),),
    ),
    ("a parent is a file", (file("/etc/passwd/x"),), ()),
]


@pytest.mark.parametrize(("reason", "files", "links"), FAILING, ids=[row[0] for row in FAILING])
def test_what_can_not_be_installed_fails_the_phase(
    machine: LinuxMachine, reason: str, files: tuple[ospb.File, ...], links: tuple[ospb.Link, ...]
) -> None:
    """The bootstrap does not go on with a machine that is not as asked."""
    assert install(machine, Wave(id="files", files=files, links=links), note("never")) != 0, reason
    assert not machine.path("/ran").exists()


def test_a_missing_staged_file_fails_the_phase(machine: LinuxMachine) -> None:
    """A provisioner that left a staged file out does not make a machine with an empty one."""
    result = lowered([Wave(id="files", files=(file("/etc/a"),))])
    machine.write(one for one in result.files if not one.path.endswith("/stage/files/1"))
    assert machine.run(result.entrypoint.argv) != 0
    assert not machine.path("/etc/a").exists()


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
    assert "a.example: no answer, or another content\nno URL gave" in machine.path("/run/slipway/log").read_text()
    calls = [one for one in machine.calls if one.startswith(("curl", "wget"))]
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


def test_waves_stand_where_the_caller_puts_them(machine: LinuxMachine) -> None:
    """A step between two waves sees the first one's files and not the second's."""
    between = note("between", PREPARE)
    between.command.script.CopyFrom(literal(b"[ -e /etc/one ] && [ ! -e /etc/two ]"))
    first, second = Wave(id="one", files=(file("/etc/one"),)), Wave(id="two", files=(file("/etc/two"),))
    assert install(machine, first, between, second) == 0
    assert machine.path("/etc/two").exists()


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
    template = contentpb.ForeignTemplate(language=contentpb.TEMPLATE_LANGUAGE_JINJA, text="{{ hidden }}")
    content = contentpb.Content(segments=[contentpb.Segment(template=template)])
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


def test_installer_is_not_sent_when_nothing_needs_it() -> None:
    """A plan without waves and facts carries the runner alone."""
    assert not [one for one in lowered([note("a")]).files if "install" in one.path]
