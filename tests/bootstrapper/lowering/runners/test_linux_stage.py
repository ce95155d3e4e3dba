"""Waves on Linux: staged items, installed for real in dash, bash and busybox."""

import os
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import PREPARE, STATE, lowered, note
from tests.bootstrapper.lowering.runners.staging import access, file, install

pytestmark = pytest.mark.long

EVERY_BYTE = bytes(range(256)) + b"\r\n no final newline {{ x }} ${y}"


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


def test_waves_stand_where_the_caller_puts_them(machine: LinuxMachine) -> None:
    """A step between two waves sees the first one's files and not the second's."""
    between = note("between", PREPARE)
    between.command.script.CopyFrom(literal(b"[ -e /etc/one ] && [ ! -e /etc/two ]"))
    first, second = Wave(id="one", files=(file("/etc/one"),)), Wave(id="two", files=(file("/etc/two"),))
    assert install(machine, first, between, second) == 0
    assert machine.path("/etc/two").exists()


def test_installer_is_not_sent_when_nothing_needs_it() -> None:
    """A plan without waves and facts carries the runner alone."""
    assert not [one for one in lowered([note("a")]).files if "install" in one.path]
