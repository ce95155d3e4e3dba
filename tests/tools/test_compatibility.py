"""The table of templates that import: what is rendered counts, what is refused says why, and the rest is named."""

import shutil
from pathlib import Path

from tools.compatibility import page, render

EXAMPLES = Path(__file__).parents[2] / "examples"
OLD = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec: {unknown: 1}\n"


def test_a_folder_of_templates_becomes_tables(tmp_path: Path) -> None:
    """A template that renders counts with its machines; another with its first reason, without its file's name."""
    repository = tmp_path / "owner" / "name"
    repository.mkdir(parents=True)
    whole, refused = repository / "templates__metal.yaml", repository / "old.yaml"
    shutil.copy(EXAMPLES / "cluster-metal.yaml", whole)
    refused.write_text(OLD)
    outcomes = [render(tmp_path, refused), render(tmp_path, whole)]
    assert [(outcome.repository, outcome.path, bool(outcome.refusals), outcome.crashed) for outcome in outcomes] == [
        ("owner/name", "old.yaml", True, False),
        ("owner/name", "templates/metal.yaml", False, False),
    ]
    text = "\n".join(page(outcomes))
    assert f"| owner/name | 2 | 1 | {outcomes[1].machines} |" in text
    assert outcomes[1].machines > 1
    assert "| owner/name: `old.yaml` | line 4:8: spec.unknown: unknown field" in text
    assert str(tmp_path) not in text
