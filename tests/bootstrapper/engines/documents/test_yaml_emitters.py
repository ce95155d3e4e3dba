"""The two emitters of documents: the fast one is used only where both write the same bytes."""

import random

import pytest
import yaml

from slipway.bootstrapper.engines.documents import go_yaml
from slipway.bootstrapper.engines.documents.document import Tree

_WORDS = (
    *"ab01!#$%&()*+,-./:;<=>?@[]^_`{|}~\"'\\ ",
    *("word", "true", "No", "null", "~", "1.5", "1e3", "0x1f", "0o7", "1_000", ".inf", "2026-01-01", "12:30", "<<"),
    *("=", "--- "),
)


def _tree(text: str) -> dict[str, Tree]:
    nested: list[Tree] = [text, {"x": text, "y": [text, 1, True, None]}]
    return {"k": text, "list": nested, text or "e": {"n": 1.5}, "none": [], "o": {}}


def _dump(monkeypatch: pytest.MonkeyPatch, dumper: type, tree: dict[str, Tree]) -> str:
    with monkeypatch.context() as patched:
        patched.setattr(go_yaml, "FastDumper", dumper)
        return go_yaml.dump_yaml(tree)


def test_both_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Printable ASCII that reads as numbers, dates, markers or indicators looks alike from both."""
    rand = random.Random(7)
    for _ in range(3000):
        tree = _tree("".join(rand.choice(_WORDS) for _ in range(rand.randint(0, 6))))
        assert go_yaml.dump_yaml(tree) == _dump(monkeypatch, go_yaml.GoYamlDumper, tree)


@pytest.mark.parametrize("text", ["\U0001f600", "a\n\n", "\x85", "\ufeff", "é\n", "\t"])
def test_what_libyaml_writes_in_another_way_is_left_to_the_slow_one(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Wherever such a text stands, in a value or in a key, the fast emitter is not asked."""
    monkeypatch.setattr(go_yaml, "FastDumper", None)
    trees: tuple[dict[str, Tree], ...] = ({"a": text}, {"a": [{"b": text}]}, {text: 1})
    for tree in trees:
        assert yaml.safe_load(go_yaml.dump_yaml(tree)) == tree
