"""The extension that is an item of cloud-config as it is written: its place among the others, and what is refused."""

import json
from typing import Any

import pytest
import yaml

from slipway.contract.errors import BundleInvalid, UnsupportedFeature
from slipway.provisioners.cloud_init.features import ITEM
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.cloud_init.documents import document

FACT = "{{ ds.meta_data.tag }}"


def bundle(system: ospb.OperatingSystem, *contents: object) -> bundlepb.BootstrapBundle:
    """Make a bundle with the extension once for each content."""
    made = testing.bundle(system)
    for content in contents:
        extension = made.extensions.add(id=ITEM, media_type="application/json")
        text = content if isinstance(content, str) else json.dumps(content)
        extension.content.segments.add(data=text.encode())
    return made


def user(name: str, position: int | None = None) -> dict[str, Any]:
    """Give the content for a user."""
    entry = {"key": "users", "item": {"name": name, "gecos": FACT, "lock_passwd": False, "keys": ["a b"]}}
    return entry if position is None else {**entry, "position": position}


def test_an_item_stands_where_its_position_says() -> None:
    """Before the bundle's own item of that number; in order among each other; behind all where none is said."""
    system = ospb.OperatingSystem(users=[ospb.User(name="one"), ospb.User(name="two")])
    system.default_user = ospb.DEFAULT_USER_OMIT
    raw = [user("last"), user("b", 1), user("a", 0), user("c", 1), user("end", 9)]
    seen = document(bundle(system, *raw))["users"]
    assert [entry["name"] for entry in seen] == ["a", "one", "b", "c", "two", "last", "end"]


def test_texts_stay_jinja_and_all_else_what_it_is() -> None:
    """Only what has Jinja's marks is rendered; the rest is protected from it, as everything else in the document."""
    item = {"name": "{", "gecos": FACT, "groups": "a: {{ x }} # b", "lock_passwd": False, "uid": 7, "keys": ["yes"]}
    user_data = testing.render(CloudInit(), bundle(ospb.OperatingSystem(), {"key": "users", "item": item}))
    assert user_data.startswith(b"## template: jinja\n#cloud-config\n")
    (_, seen) = yaml.safe_load(user_data)["users"]
    assert seen == item
    assert b"{{ '" not in user_data.partition(b"runcmd")[0]


def test_the_images_own_user_is_kept_beside_an_item() -> None:
    """As beside users of the bundle: only what is to go is left out."""
    assert document(bundle(ospb.OperatingSystem(), user("a")))["users"][0] == "default"


def test_each_list_takes_items() -> None:
    """Files come before those that Slipway adds; a mount of one word is one."""
    system = ospb.OperatingSystem(
        files=[testing.file("/etc/a", b"a"), testing.file("/etc/b", b"b", owner="app")],
        mounts=[ospb.Mount(source="LABEL=a", path="/a")],
        filesystems=[ospb.Filesystem(device="/dev/sdb", format="ext4")],
    )
    raw = [
        {"key": "write_files", "position": 1, "item": {"path": f"/etc/{FACT}", "content": "x"}},
        {"key": "mounts", "position": 0, "item": ["ephemeral0"]},
        {"key": "fs_setup", "position": 0, "item": {"device": FACT, "filesystem": "xfs"}},
        {"key": "ntp", "item": {"enabled": True, "servers": [FACT]}},
    ]
    seen = document(bundle(system, *raw))
    assert [entry["path"] for entry in seen["write_files"][:3]] == ["/etc/a", f"/etc/{FACT}", "/etc/b"]
    assert [row[0] for row in seen["mounts"]] == ["ephemeral0", "LABEL=a"]
    assert [entry["filesystem"] for entry in seen["fs_setup"]] == ["xfs", "ext4"]
    assert seen["ntp"] == {"enabled": True, "servers": [FACT]}


def test_a_disk_may_be_named_by_jinja() -> None:
    """Its name is a key, which is no block; cloud-init renders the document before it reads it."""
    raw = {"key": "disk_setup", "item": {"device": "/dev/{{ x }}", "layout": [50, [50, "82"]], "overwrite": True}}
    text = testing.render(CloudInit(), bundle(ospb.OperatingSystem(), raw)).decode().replace("{{ x }}", "sdb")
    assert yaml.safe_load(text)["disk_setup"] == {"/dev/sdb": {"layout": [50, [50, "82"]], "overwrite": True}}


NTP = {"key": "ntp", "item": {"servers": ["a"]}}
DISK = {"key": "disk_setup", "item": {"device": "/dev/sdb", "layout": True}}


@pytest.mark.parametrize(
    "contents", [[NTP, NTP], [DISK, DISK], [user("a"), {**user("b"), "item": {"name": "{{\x07}}"}}]]
)
def test_what_would_be_lost_is_refused(contents: list[object]) -> None:
    """A second one would replace the first; and a character that no block of YAML can hold."""
    with pytest.raises(UnsupportedFeature) as caught:
        document(bundle(ospb.OperatingSystem(), *contents))
    assert [violation.path for violation in caught.value.violations] == ["extensions[1]"]


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "[" * 20000, {}, {"key": "users"}, {"key": "runcmd", "item": ["secret"]},
        {"key": ["users"], "item": {"name": "a"}}, {"key": "users", "item": {}}, {"key": "users", "item": ["secret"]},
        {"key": "users", "item": {"name": None}}, {"key": "users", "item": {"name": ["a", 1.5]}},
        {**user("secret"), "position": -1}, {**user("secret"), "position": True}, {**user("secret"), "more": 1},
        {"key": "mounts", "item": []}, {"key": "mounts", "item": ["secret", 1]},
        {"key": "disk_setup", "item": {"layout": True}},
        {"key": "disk_setup", "item": {"device": "secret\n", "layout": True}},
        {"key": "users", "item": {"name": "secret\ud800"}}, {"key": "users", "item": {"\udc00": "secret"}},
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_its_path(content: object) -> None:
    """An unknown key or form is never guessed; the text does not stand in the message."""
    with pytest.raises(BundleInvalid) as caught:
        document(bundle(ospb.OperatingSystem(), content))
    (violation,) = caught.value.violations
    assert violation.path == "extensions[0].content"
    assert "secret" not in str(caught.value)
