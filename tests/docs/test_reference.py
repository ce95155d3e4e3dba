"""The reference pages are what their sources say now, and say all of it."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from google.protobuf.descriptor import Descriptor

from slipway.bootstrapper.engines.table import built_in_engines
from slipway.cli.command_line import cli
from slipway.conformance.clauses import clauses
from slipway.contract.features import feature_uses
from slipway.contract.grammars import grammars
from slipway.contract.yaml_names import fields_by_key
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb
from slipway.v1alpha1.reasons import RULES
from tools.docgen import architecture_tables, descriptors, markdown, pages
from tools.docgen.feature_ids import places

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]


def test_every_generated_page_is_fresh() -> None:
    """docs/reference is what the generators write now (run: make docs)."""
    # In a process of its own: click keeps what other tests have done to its commands.
    done = subprocess.run(
        [sys.executable, "-m", "tools.docgen", "--check"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_changed_page_is_stale(tmp_path: Path) -> None:
    """One changed byte, or a missing page, is told; writing again makes all of them fresh."""
    (tmp_path / "proto").symlink_to(ROOT / "proto")
    marks = "<!-- made by `make docs`: begin -->\nold\n<!-- made by `make docs`: end -->"
    for page in (pages.README, architecture_tables.PAGE):
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / page).write_text(marks, encoding="utf-8")
    assert set(pages.write(tmp_path)) == set(pages.texts(ROOT))
    assert "| users | native |" in (tmp_path / pages.README).read_text(encoding="utf-8")
    numbers = (tmp_path / architecture_tables.PAGE).read_text(encoding="utf-8")
    assert re.findall(r"\| engine `(\w+)` \|", numbers) == sorted(built_in_engines().names)
    assert "3 + 5 = 8 programs" in numbers
    assert pages.stale(tmp_path) == []
    page = pages.REFERENCE / "features.md"
    (tmp_path / page).write_text((tmp_path / page).read_text(encoding="utf-8") + " ", encoding="utf-8")
    (tmp_path / pages.REFERENCE / "cli.md").unlink()
    assert set(pages.stale(tmp_path)) == {page, pages.REFERENCE / "cli.md"}


def test_every_element_of_the_contract_has_its_comment() -> None:
    """No field, value, call or type of the contract is without a comment, and each field is a row of its page."""
    page = pages.PAGES["contract.md"]()
    for file in descriptors.contract_files():
        assert descriptors.comment(file.name)
        for service in file.services_by_name.values():
            for method in service.methods:
                assert f"| `{method.name}` |" in page
        for message in file.message_types_by_name.values():
            section = page.partition(f"\n#### {message.name}\n")[2].partition("\n#### ")[0]
            for field in message.fields:
                assert f"| {field.number} | `{field.name}` |" in section
                assert descriptors.comment(field.full_name)


def test_every_clause_and_reason_is_on_the_page() -> None:
    """The page says each clause with its id and a target for links, and each reason with what the caller does."""
    page = pages.PAGES["contract.md"]()
    for clause in clauses().values():
        assert f'<a id="{clause.id.lower()}"></a>**{clause.id}** ' in page
        assert " ".join(clause.text.split()) in page
    for reason, rule in RULES.items():
        assert f"| `{reason}` | {rule.code.name} |" in page
        assert rule.recovery in page


def test_every_key_of_a_spec_has_a_row() -> None:
    """Whatever the codec takes in a SlipwayConfig stands in the section of its type."""
    page = pages.PAGES["spec.md"]()
    for one in descriptors.below(specpb.MachineBootstrapSpec.DESCRIPTOR):
        if not isinstance(one, Descriptor) or f"\n## {one.name}\n" not in page:
            continue
        section = page.partition(f"\n## {one.name}\n")[2].partition("\n## ")[0]
        for key in fields_by_key(one):
            assert f"| `{key}` |" in section, f"{one.name}.{key}"
    assert "| `origin` |" not in page


def test_feature_ids_are_those_of_the_walker() -> None:
    """An id that the walker finds in a message is among those that the page finds in the descriptors."""
    known = {place.id for place in places()}
    bundle = bundlepb.BootstrapBundle(
        os=ospb.OperatingSystem(
            files=[ospb.File(path="/a", append=True, remote=ospb.RemoteContent(sha512="0"))],
            disks=[ospb.Disk(device="/dev/sdb", table_type=ospb.PARTITION_TABLE_TYPE_MBR)],
            default_user=ospb.DEFAULT_USER_OMIT,
        )
    )
    found = {use.id for use in feature_uses(bundle)}
    assert {"os.files.remote.sha512", "os.storage.disks.mbr", "os.default_user.omit"} <= found
    assert found <= known


def test_every_grammar_that_a_field_names_is_explained() -> None:
    """The links of the other pages lead to a heading."""
    page = pages.PAGES["grammars.md"]()
    named = {line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")}
    assert named <= grammars().keys()
    for name in ("absolute-path", "cidr", "file-mode", "feature-id"):
        assert name in named


def test_every_command_is_explained() -> None:
    """Each command has a section with each of its options."""
    page = pages.PAGES["cli.md"]()
    for name, command in cli.commands.items():
        if isinstance(command, click.Group):
            continue
        section = page.partition(f"\n## slipway {name}\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[-1] in section
    assert "Examples:\n\n```text\nslipway render -f" in page


@pytest.mark.parametrize(
    ("text", "want", "reason"),
    [
        ("a <b> c", r"a \<b> c", "HTML would swallow it"),
        ("`a <b>` <c>", r"`a <b>` \<c>", "code stays as it is"),
        ("snake_case and _default", r"snake_case and \_default", "only at the edge of a word it is emphasis"),
        ("*item*", r"\*item\*", "a star is emphasis"),
    ],
)
def test_prose_is_escaped(text: str, want: str, reason: str) -> None:
    """A comment reads on the page as it reads in the proto file."""
    assert markdown.prose(text) == want, reason


def test_a_cell_can_not_break_its_table() -> None:
    """A bar and a line break stay inside the cell."""
    assert markdown.table(["a|b"], [["x\ny"]]) == "| a\\|b |\n| --- |\n| x y |"
