"""Every byte of a file, its mode and its owner, in the shape of each spec."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.sdk import testing
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.ignition.configs import config, content, refusals


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_content_arrives(data: bytes) -> None:
    """Every content comes out as it went in."""
    (file,) = config(ospb.OperatingSystem(files=[testing.file("/etc/a", data)]))["storage"]["files"]
    assert content(file["contents"]) == data


@pytest.mark.parametrize(
    ("data", "form", "reason"),
    [
        (b"", "data:,", "an empty file has a source, else an old file would stay"),
        (b"a b\n", "data:,a%20b%0A", "short text"),
        (b"\xff" * 20, "data:;base64,//////////////////////////8=", "bytes"),
        (b"100%?#", "data:,100%25%3F%23", "what a URL would take for its own"),
    ],
)
def test_form_of_content(data: bytes, form: str, reason: str) -> None:
    """The shortest form is taken."""
    (file,) = config(ospb.OperatingSystem(files=[testing.file("/a", data)]))["storage"]["files"]
    assert file["contents"] == {"source": form}, reason


def test_large_content_is_packed_without_a_time() -> None:
    """Long text is packed, and the same text always into the same bytes."""
    (file,) = config(ospb.OperatingSystem(files=[testing.file("/a", b"line\n" * 500)]))["storage"]["files"]
    assert file["contents"]["compression"] == "gzip"
    packed = base64.b64decode(file["contents"]["source"].partition(",")[2])
    assert packed[4:8] == bytes(4)
    assert content(file["contents"]) == b"line\n" * 500


@given(st.lists(st.integers(0, 0o777), max_size=4))
def test_modes_are_decimal(modes: list[int]) -> None:
    """A mode is a number, not a text in octal."""
    files = [testing.file(f"/etc/{index}", b"", mode=mode) for index, mode in enumerate(modes)]
    seen = config(ospb.OperatingSystem(files=files))["storage"].get("files", [])
    assert [file["mode"] for file in seen] == modes


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1777])
def test_special_bits_are_refused(mode: int) -> None:
    """Ignition drops them in silence before spec 3.6."""
    assert refusals(ospb.OperatingSystem(files=[testing.file("/a", b"", mode=mode)])) == ["os.files[0]"]


def test_owners() -> None:
    """Owners are names, or ids where they are numbers; root is not said."""
    files = [testing.file("/a", b"", owner="ops", group="1000"), testing.file("/b", b"")]
    first, second = config(ospb.OperatingSystem(files=files))["storage"]["files"]
    assert (first["user"], first["group"]) == ({"name": "ops"}, {"id": 1000})
    assert "user" not in second
    assert first["overwrite"] is True


@pytest.mark.parametrize(
    ("remote", "expected", "reason"),
    [
        ({"urls": ["https://a/b"]}, {"source": "https://a/b"}, "no hash is asked for"),
        (
            {"urls": ["http://a/b"], "sha256": "AB" * 32},
            {"source": "http://a/b", "verification": {"hash": "sha256-" + "ab" * 32}},
            "lower case",
        ),
        (
            {"urls": ["http://a/b"], "sha256": "ab" * 32, "sha512": "cd" * 64},
            {"source": "http://a/b", "verification": {"hash": "sha512-" + "cd" * 64}},
            "the stronger of two",
        ),
    ],
)
def test_remote_files(remote: dict[str, Any], expected: dict[str, Any], reason: str) -> None:
    """Downloads carry the hash that Ignition verifies."""
    file = ospb.File(path="/a", owner="root", group="root", mode=0o644, remote=ospb.RemoteContent(**remote))
    (seen,) = config(ospb.OperatingSystem(files=[file]))["storage"]["files"]
    assert seen["contents"] == expected, reason


@pytest.mark.parametrize(
    ("spec", "remote", "reason"),
    [
        ("3.3.0", {"urls": ["https://a", "https://b"]}, "Ignition takes one URL"),
        ("2.3.0", {"urls": ["https://a"], "sha256": "ab" * 32}, "spec 2 knows SHA-512 only"),
    ],
)
def test_remote_files_that_are_refused(spec: str, remote: dict[str, Any], reason: str) -> None:
    """A download that would not be verified, or not tried as asked, is refused."""
    file = ospb.File(path="/a", owner="root", group="root", mode=0o644, remote=ospb.RemoteContent(**remote))
    assert refusals(ospb.OperatingSystem(files=[file]), spec) == ["os.files[0]"], reason


OWN, OTHER = contentpb.Content(data=b"own"), contentpb.Content(data=b"other")


def _downloads(*remotes: ospb.RemoteContent) -> ospb.OperatingSystem:
    files = [
        ospb.File(path=f"/{number}", owner="root", group="root", mode=0o644, remote=remote)
        for number, remote in enumerate(remotes)
    ]
    return ospb.OperatingSystem(files=files)


def test_authorities_of_downloads() -> None:
    """What vouches for the server of every download over HTTPS is given to Ignition once, and nothing without it."""
    own = ospb.RemoteContent(urls=["https://a"], ca=OWN)
    plain = ospb.RemoteContent(urls=["http://b"], sha256="ab" * 32)
    security = config(_downloads(own, own, plain))["ignition"]["security"]
    assert security == {"tls": {"certificateAuthorities": [{"source": "data:,own"}]}}
    assert "security" not in config(_downloads(plain))["ignition"]


@pytest.mark.parametrize(
    ("other", "refused", "reason"),
    [
        (ospb.RemoteContent(urls=["https://b"]), ["os.files[0]"], "it did not ask for these authorities"),
        (ospb.RemoteContent(urls=["https://b"], ca=OTHER), ["os.files[0]", "os.files[1]"], "it has others"),
        (ospb.RemoteContent(urls=["http://b"], ca=OWN), ["os.files[0]", "os.files[1]"], "it shows no certificate"),
    ],
)
def test_authorities_that_others_would_trust_are_refused(
    other: ospb.RemoteContent, refused: list[str], reason: str
) -> None:
    """Ignition has one list of authorities, so files with a list of their own are left to the runner."""
    assert refusals(_downloads(ospb.RemoteContent(urls=["https://a"], ca=OWN), other)) == refused, reason


def test_directories_and_links() -> None:
    """Directories and links are native; a hard link has no owner of its own."""
    system = ospb.OperatingSystem(
        directories=[ospb.Directory(path="/opt/x", owner="ops", group="root", mode=0o700)],
        links=[
            ospb.Link(path="/a", target="b", owner="root", group="ops"),
            ospb.Link(path="/c", target="/d", hard=True, owner="ops", group="ops"),
        ],
    )
    storage = config(system)["storage"]
    assert storage["directories"] == [{"path": "/opt/x", "user": {"name": "ops"}, "mode": 0o700}]
    assert storage["links"] == [
        {"path": "/a", "group": {"name": "ops"}, "overwrite": True, "target": "b"},
        {"path": "/c", "overwrite": True, "target": "/d", "hard": True},
    ]


@pytest.mark.parametrize(
    ("make", "path", "reason"),
    [
        (
            lambda: ospb.OperatingSystem(
                files=[testing.file("/l/a", b"")], links=[ospb.Link(path="/l", target="/x", owner="root", group="root")]
            ),
            "os.files[0]",
            "Ignition refuses a config that writes through its own link",
        ),
        (
            lambda: ospb.OperatingSystem(files=[testing.file("/a", b""), testing.file("/a", b"")]),
            "os.files[1]",
            "each path once",
        ),
        (
            lambda: ospb.OperatingSystem(
                files=[testing.file("/m/a", b"")], mounts=[ospb.Mount(source="tmpfs", path="/m", type="tmpfs")]
            ),
            "os.files[0]",
            "the mount comes later and would hide it",
        ),
        (
            lambda: ospb.OperatingSystem(
                users=[ospb.User(name="a", sudo=["ALL"])], files=[testing.file("/etc/sudoers.d/90-slipway-users", b"")]
            ),
            "os.users[0]",
            "the path is needed for the rules",
        ),
        (
            lambda: ospb.OperatingSystem(users=[ospb.User(name="a b", sudo=["ALL"])]),
            "os.users[0]",
            "escapes in sudoers",
        ),
    ],
)
def test_what_ignition_would_trip_over(make: Callable[[], ospb.OperatingSystem], path: str, reason: str) -> None:
    """A config that fails, or that leaves something else, must never be given."""
    assert refusals(make()) == [path], reason


def test_hostname_is_a_file() -> None:
    """The host name is /etc/hostname, with the line break that it has on every system."""
    system = ospb.OperatingSystem(hostname=ospb.Hostname(name=contentpb.MachineText(value="node-1")))
    (file,) = config(system)["storage"]["files"]
    assert (file["path"], content(file["contents"])) == ("/etc/hostname", b"node-1\n")
