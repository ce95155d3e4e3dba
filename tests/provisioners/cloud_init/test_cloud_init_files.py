"""write_files: every byte arrives, and owners, parents and times are as the contract promises."""

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.errors import UnsupportedFeature
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk import testing
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.cloud_init.documents import RAW, content, entries, last_entry

TRICKY = [
    b"",
    b"a",
    b"a\n",
    b"a\n\n\n",
    b"\n",
    b"\n\na",
    b" a\n",
    b"  a\n b\n",
    b"\ta\n",
    b"a\n\tb\n",
    b"a \nb\n",
    b"a\r\nb\r\n",
    b"a\x00b",
    b"#cloud-config\n",
    b"---\na: b\n...\n",
    b"%YAML 1.2\n",
    b"'\"\\`$(x)${y}",
    b"yes",
    b"1_000",
    b"0644",
    b"~",
    b"=",
    b"<<",
    b"2001-01-01",
    b"- a\n- b\n",
    b"key: value # not a comment\n",
    b"\xef\xbb\xbfbom\n",
    b"caf\xc3\xa9\n",
    b"\xc2\x85next line\n",
    "\u2028separator\n".encode(),
    "\U0001f600\n".encode(),
    b"\xff\xfe",
    bytes(range(256)),
    b"a" * 5000,
    b"word " * 500 + b"\n",
    RAW.encode(),
    RAW.encode() + b"\n",
]


@pytest.mark.parametrize("data", TRICKY)
def test_tricky_content_arrives(data: bytes) -> None:
    """Contents that other renderers break come out as they went in."""
    assert content(last_entry(data)) == data


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_content_arrives(data: bytes) -> None:
    """Every content comes out as it went in."""
    assert content(last_entry(data)) == data


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20),
            st.integers(0, 0o1777),
        ),
        max_size=5,
    )
)
def test_any_path_and_mode_arrive(files: list[tuple[str, int]]) -> None:
    """Paths and modes come out as they went in; a mode is a quoted octal text, as an unquoted one is misread."""
    system = ospb.OperatingSystem(files=[testing.file("/etc/" + name, b"x", mode=mode) for name, mode in files])
    seen = entries(system)
    assert [entry["path"] for entry in seen] == ["/etc/" + name for name, _ in files]
    numbers = [int(entry.get("permissions", "0644"), 8) for entry in seen]
    assert [stat.S_IMODE(number) for number in numbers] == [mode for _, mode in files]
    assert 0 not in numbers, "cloud-init takes 0 for no mode at all"
    assert all(isinstance(entry.get("permissions", ""), str) for entry in seen)


@pytest.mark.parametrize(
    ("data", "block", "reason"),
    [
        (b"a: b\nc: d\n", b"content: |\n    a: b\n    c: d\n", "plain text is readable"),
        (b"a\nb", b"content: |-\n    a\n    b\n", "no final line break"),
        (b"a\n\n", b"content: |+\n    a\n\n", "two final line breaks"),
        (b"a\n\tb\n", b'content: "a\\n\\tb\\n"\n', "a tab is quoted, not base64"),
        (b"-----BEGIN X-----\nAA==\n", b'content: "-----BEGIN X-----\\nAA==\\n"\n', "PEM is long and read by nobody"),
        (b"a\r\n", b"encoding: b64\n  content: YQ0K\n", "CRLF would be normalised on the way"),
    ],
)
def test_form_of_content(data: bytes, block: bytes, reason: str) -> None:
    """The form is the readable one wherever that is safe."""
    system = ospb.OperatingSystem(files=[testing.file("/etc/a", data)])
    assert block in testing.render(CloudInit(), testing.bundle(system)), reason


def test_secret_segments_are_spliced() -> None:
    """Segments come out joined, secrets encoded as their place asks."""
    file = testing.file("/etc/a", b"key: ")
    for encoding in (contentpb.SPLICE_ENCODING_JSON_STRING, contentpb.SPLICE_ENCODING_BASE64, 0):
        file.content.segments.add(secret_ref={"name": "s", "key": "k"}, encoding=encoding)
        file.content.segments.add(data=b"\n")
    seen = entries(ospb.OperatingSystem(files=[file]), secrets=[testing.secret("s", "k", b'p"w')])
    assert content(seen[0]) == b'key: "p\\"w"\ncCJ3\np"w\n'


def test_defaults_of_cloud_init_are_not_repeated() -> None:
    """Root and 0644 are what cloud-init takes by itself; user data is limited, so they are left out."""
    assert last_entry(b"x") == {"path": "/etc/a", "content": "x"}
    assert last_entry(b"x", mode=0o600)["permissions"] == "0600"


@pytest.mark.parametrize(
    ("path", "owner", "deferred", "reason"),
    [
        ("/etc/a", "root", False, "root's, on the root filesystem"),
        ("/etc/a", "ops", True, "its owner may be made by cloud-init or a package"),
        ("/home/ops/.bashrc", "root", True, "the home would exist before useradd makes it"),
        ("/srv/ops2/x", "root", True, "a home elsewhere"),
        ("/var/lib/etcd/member/x", "root", True, "the mount would hide it"),
        ("/var/lib/etcd2/x", "root", False, "only looks like the mount point"),
        ("/root/.bashrc", "root", False, "root's home is there"),
    ],
)
def test_files_wait_for_what_they_need(*, path: str, owner: str, deferred: bool, reason: str) -> None:
    """cloud-init writes files before it makes mounts and users, unless told to wait."""
    system = ospb.OperatingSystem(
        files=[testing.file(path, b"x", owner=owner)],
        users=[ospb.User(name="ops"), ospb.User(name="ops2", home="/srv/ops2"), ospb.User(name="root")],
        mounts=[
            ospb.Mount(source="LABEL=etcd", path="/var/lib/etcd/"),
            ospb.Mount(source="x", path="none", type="swap"),
        ],
    )
    assert entries(system)[-1].get("defer", False) is deferred, reason


@pytest.mark.parametrize(
    ("paths", "expected", "reason"),
    [
        (["/opt/new/deep/a"], 2, "new parents would get the file's owner"),
        (["/etc/a"], 1, "the parent is there on every system"),
        (["/opt/new/deep/a", "/opt/new/deep/b"], 3, "the second finds them made"),
        (["/home/ops/a"], 1, "useradd makes the home"),
        (["/home/ops/.ssh/a"], 2, "a new folder in a home is root's too, as the contract says"),
    ],
)
def test_parents_belong_to_root(paths: list[str], expected: int, reason: str) -> None:
    """cloud-init 25.1 gives new parents to the file's owner; an entry of root's makes them first."""
    system = ospb.OperatingSystem(
        files=[testing.file(path, b"x", owner="ops", group="ops") for path in paths], users=[ospb.User(name="ops")]
    )
    seen = entries(system)
    assert len(seen) == expected, reason
    for entry in seen[: expected - len(paths)]:
        assert "owner" not in entry
        assert entry["defer"] is True
        assert "content" not in entry
    assert seen[-1]["owner"] == "ops:ops"


def test_files_of_root_first_need_no_help() -> None:
    """A parent that a file of root's makes anyway is not made twice."""
    files = [testing.file("/opt/new/a", b"x"), testing.file("/opt/new/b", b"x", owner="ops")]
    assert len(entries(ospb.OperatingSystem(files=files))) == 2


@pytest.mark.parametrize(("owner", "group"), [("1000", "root"), ("root", "1000")])
def test_numeric_owners_are_refused(owner: str, group: str) -> None:
    """cloud-init looks owners up by name; a number would end the module and leave later files out."""
    with pytest.raises(UnsupportedFeature) as caught:
        last_entry(b"x", owner=owner, group=group)
    assert caught.value.violations[0].path == "os.files[0]"


@pytest.mark.parametrize("mode", [0o4755, 0o2755])
def test_set_id_bits_are_refused(mode: int) -> None:
    """cloud-init sets the mode before the owner, which costs these bits."""
    with pytest.raises(UnsupportedFeature) as caught:
        last_entry(b"x", mode=mode)
    assert caught.value.violations[0].path == "os.files[0]"


def test_the_last_of_two_files_of_a_path() -> None:
    """A file that comes behind a deferred one of the same path is deferred, too: the last one counts."""
    system = ospb.OperatingSystem(users=[ospb.User(name="keeper")])
    for owner, data in (("keeper", b"first"), ("root", b"second")):
        file = system.files.add(path="/etc/both", owner=owner, group="root", mode=0o644)
        file.content.segments.add(data=data)
    assert [entry.get("defer", False) for entry in entries(system)] == [True, True]
    assert "second" in str(entries(system)[-1])
