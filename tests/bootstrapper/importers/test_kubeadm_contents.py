"""Contents of files arrive as they are, from wherever a config takes them."""

import json

from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.importers.lone_config import import_kubeadm_config
from tests.bootstrapper.importers.carrying import carried, without_origins


def test_the_snippet_joins_the_items() -> None:
    """Items of additionalConfig stand beside the config's own; a file of the same path is replaced, keys are added."""
    spec = """
    format: ignition
    files: [{path: /a, content: old}]
    users: [{name: core, sshAuthorizedKeys: [one]}]
    ignition:
      containerLinuxConfig:
        additionalConfig: |
          storage:
            files: [{filesystem: root, path: /a, mode: 0755, contents: {inline: new}}]
            directories: [{filesystem: root, path: /d, user: {name: u}}]
            links: [{filesystem: root, path: /l, target: /a}]
          systemd:
            units: [{name: kubeadm.service, enabled: true, dropins: [{name: 10-x.conf, contents: '[Service]'}]}]
          passwd:
            users: [{name: core, ssh_authorized_keys: [two], groups: [docker]}]
            groups: [{name: g}]
    """
    got = carried(spec).spec.os
    assert without_origins(got) == text_format.Parse(
        """
        files { path: "/a" content { text: "new" } mode: 493 }
        directories { path: "/d" owner: "u" }
        links { path: "/l" target: "/a" }
        groups { name: "g" }
        users { name: "core" groups: "docker" ssh_authorized_keys: "one" ssh_authorized_keys: "two" }
        systemd_units {
          name: "kubeadm.service" enabled: true drop_ins { name: "10-x.conf" contents: "[Service]" }
        }
        """,
        type(got)(),
    )
    assert got.systemd_units[0].origin.path == ("spec.ignition.containerLinuxConfig.additionalConfig: systemd.units[0]")
    assert got.users[0].origin.path == "spec.users[0]"


def test_secrets_that_are_changed_first_are_secrets_of_their_own() -> None:
    """An encoded value is decoded without ever becoming a literal."""
    spec = "files: [{path: /a, encoding: base64, contentFrom: {secret: {name: s, key: k}}}]"
    got = carried(spec, secrets={("s", "k"): b"aGVsbG8="})
    reference = got.spec.os.files[0].content.secret_ref
    assert [(each.name, each.key, each.value) for each in got.secrets] == [("s", reference.key, b"hello")]
    assert reference.key != "k"


def test_a_first_look_needs_no_secret() -> None:
    """With placeholders to come, an encoded Secret that nobody knows is only referred to."""
    spec = "files: [{path: /a, encoding: base64, contentFrom: {secret: {name: s, key: k}}}]"
    assert carried(spec, set_missing=True).spec.os.files[0].content.secret_ref.key == "k"


def test_templates_are_rendered() -> None:
    """ContentFormat Template becomes the text, for content and for Secrets."""
    spec = """
    files:
    - {path: /a, contentFormat: Template, content: 'v={{ .controlPlane.version }}'}
    - {path: /b, contentFormat: Template, contentFrom: {secret: {name: s, key: k}}}
    - {path: /c, contentFormat: Raw, content: x}
    """
    got = carried(spec, control_plane_version="v1.34.0", secrets={("s", "k"): b"{{ .controlPlane.version }}"})
    assert (got.spec.os.files[0].content.text, got.secrets[0].value) == ("v=v1.34.0", b"v1.34.0")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_content_arrives_character_for_character(text: str) -> None:
    """Whatever stands in a file of an ignition config is the file's text."""
    tree = {
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2",
        "kind": "KubeadmConfig",
        "spec": {"format": "ignition", "files": [{"path": "/a", "content": text}]},
    }
    escaped = json.dumps(tree, ensure_ascii=False).translate(
        {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)}
    )
    assert import_kubeadm_config(escaped).spec.os.files[0].content.text == text
