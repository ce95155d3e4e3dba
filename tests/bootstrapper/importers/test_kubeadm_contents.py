"""Contents of files arrive as on a machine of today, from wherever a config takes them."""

import json

import pytest
import yaml
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.importers.lone_config import import_kubeadm_config
from tests.bootstrapper.importers.carrying import carried, codes, without_origins


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
    assert (got.spec.os.files[0].content.text, got.secrets[0].value) == ("v=v1.34.0\n", b"v1.34.0\n")


LINES = [
    ("a: 1", "a: 1\n", "one newline is put at the end"),
    ("a\n", "a\n", "where one is, it stays"),
    ("a\n\n\n", "a\n", "and of several one stays"),
    ("", "", "an empty file stays empty"),
    ("\n\n", "", "as does one of empty lines"),
    ("a\r\nb\r\n", "a\nb\n", "line breaks are LF"),
    ("  a\n  b", "a\nb\n", "the indentation of the first line is that of the block"),
    ("a\n  b\n ", "a\n  b\n \n", "that of another line stays"),
    ("\n  a\n  b", "\na\nb\n", "an empty line has none"),
    ("  a\nb", "  a\nb", "what ends the block would break the whole config today, and stays"),
    ("a\rb", "a\rb", "the same"),
    ("a\x1bb", "a\x1bb", "so does what YAML forbids"),
]


@pytest.mark.parametrize(("text", "lines", "reason"), LINES, ids=[f"{case[0]!r}" for case in LINES])
@pytest.mark.parametrize("head", ["cloud-config", "ignition"])
def test_contents_are_those_of_a_literal_block(text: str, lines: str, reason: str, head: str) -> None:
    """Today's provider writes `content: |` and the content behind it: files and values of Secrets alike."""
    source = "contentFrom: {secret: {name: s, key: k}}"
    spec = f"format: {head}\nfiles: [{{path: /a, append: true, content: {json.dumps(text)}}}, {{path: /b, {source}}}]"
    got = carried(spec, secrets={("s", "k"): text.encode()})
    assert got.spec.os.files[0].content.text == lines, reason
    assert [secret.value for secret in got.secrets] == ([] if text == lines else [lines.encode()])
    key = got.spec.os.files[1].content.secret_ref.key
    assert key == ("k" if text == lines else "k.lines")


def test_a_value_without_lines_of_text_stays_as_it_is() -> None:
    """Bytes that are no UTF-8, and a Secret's own key of the same name, are not touched."""
    spec = "files: [{path: /a, contentFrom: {secret: {name: s, key: k}}}]"
    got = carried(spec, secrets={("s", "k"): b"\xff\r\n"})
    assert (got.secrets, got.spec.os.files[0].content.secret_ref.key) == ((), "k")
    got = carried(spec, secrets={("s", "k"): b"x", ("s", "k.lines"): b"own"})
    assert (got.secrets[0].key, got.secrets[0].value) == ("k.lines-", b"x\n")


def test_a_value_that_is_not_known_is_a_remark() -> None:
    """Without the Secret its file holds exactly its bytes, which is said; where it is given, nothing is."""
    spec = "files: [{path: /a, contentFrom: {secret: {name: s, key: k}}}]"
    got = carried(spec)
    assert (codes(got), got.diagnostics[0].origin.path) == (["SECRET_AS_IT_IS"], "spec.files[0].contentFrom")
    assert codes(carried(spec, secrets={("s", "k"): b"x"})) == codes(carried(spec, set_missing=True)) == []


def test_what_the_machine_fills_in_is_part_of_its_line() -> None:
    """A newline stands behind a fact and behind Jinja, and none behind a block, which has cut it."""

    def parts(content: str) -> list[str]:
        file = carried(f"files: [{{path: /a, content: {json.dumps(content)}}}]").spec.os.files[0]
        return [part.text or part.extension.text or "fact" for part in file.content.segments]

    assert parts("{{ ds.meta_data.hostname }}") == ["fact", "\n"]
    assert parts("a\r\n{{ x | upper }}\n\n") == ["a\n", "{{ x | upper }}", "\n"]
    assert parts("{% if x %}y{% endif %}") == ["{% if x %}y{% endif %}"]
    assert parts("{% if x %}y{% endif %} z") == ["{% if x %}y{% endif %} z\n"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_contents_are_what_yaml_reads(text: str) -> None:
    """Whatever stands in a file of an ignition config is the text of a literal block, unless it breaks one."""
    tree = {
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2",
        "kind": "KubeadmConfig",
        "spec": {"format": "ignition", "files": [{"path": "/a", "content": text}]},
    }
    escaped = json.dumps(tree, ensure_ascii=False).translate(
        {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)}
    )
    block = "inline: |\n          " + text.replace("\n", "\n" + " " * 10) + "\nmode: 1\n"
    try:
        read = yaml.safe_load(block)
    except yaml.YAMLError:
        read = None
    lines = read["inline"] if isinstance(read, dict) and read.keys() == {"inline", "mode"} else text
    assert import_kubeadm_config(escaped).spec.os.files[0].content.text == lines


FROM_SECRET = "contentFrom: {secret: {name: s, key: k}}"
RENDERED = [
    (f"path: /a, {FROM_SECRET}", b"{{ x }}", ["SECRET_NOT_RENDERED"], "here it is taken as it is"),
    (f"path: '/{{{{ x }}}}', {FROM_SECRET}", b"{{ x }}", [], "kept as written, it is rendered as today"),
    (f"path: /a, contentFormat: Template, {FROM_SECRET}", b"{{ .controlPlane.version }}", [], "rendered before"),
    (f"path: /a, contentFormat: Template, {FROM_SECRET}", b"{{ `{{ x }}` }}", ["SECRET_NOT_RENDERED"], "made by it"),
    (f"path: /a, encoding: base64, {FROM_SECRET}", b"e3sgeCB9fQ==", [], "what is encoded is no text to cloud-init"),
]


@pytest.mark.parametrize(("file", "value", "expected", "reason"), RENDERED, ids=[case[3] for case in RENDERED])
def test_jinja_of_a_secret_is_a_remark_where_it_is_not_rendered(
    file: str, value: bytes, expected: list[str], reason: str
) -> None:
    """Only where cloud-init renders the value today, and does not here."""
    got = carried(f"files: [{{{file}}}]", secrets={("s", "k"): value}, control_plane_version="v1.33.1")
    assert codes(got) == expected, reason


def test_a_value_that_is_not_known_is_rendered_in_an_item_that_is_kept() -> None:
    """Its remark says so: its bytes stand in the document as today."""
    (remark,) = carried(f"files: [{{path: '/{{{{ x }}}}', {FROM_SECRET}}}]").diagnostics
    assert (remark.code, "Jinja in them rendered as today" in remark.message) == ("SECRET_AS_IT_IS", True)


@pytest.mark.parametrize("encoding", ["base64", "gzip+base64"])
@pytest.mark.parametrize("known", [{}, {("s", "k"): b"e3sgeCB9fQ=="}], ids=["unknown", "known"])
def test_an_encoded_secret_of_an_item_that_is_kept_is_decoded_by_cloud_init(
    encoding: str, known: dict[tuple[str, str], bytes]
) -> None:
    """As today: decoded here, its Jinja would be rendered, which it is not today."""
    spec = f"files: [{{path: '/{{{{ x }}}}', encoding: {encoding}, {FROM_SECRET}}}]"
    got = carried(spec, secrets=known)
    (extension,) = got.spec.extensions
    head, secret, tail = extension.content.segments
    item = json.loads(head.text + '"x"' + tail.text)["item"]
    assert (secret.secret_ref.key, item) == ("k", {"path": "/{{ x }}", "encoding": encoding, "content": "x"})
    assert (codes(got), got.secrets) == ([], ())
