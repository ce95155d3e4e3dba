"""The page on clusters shows the example of a namespaced installation as it is, which other tests render and apply."""

from pathlib import Path

EXAMPLE = Path("deploy/kubernetes/overlays/namespaced")
PLACE = "github.com/your/fork/deploy/kubernetes"


def test_the_page_shows_the_example() -> None:
    """Word for word, but for where it lies."""
    page = Path("docs/how-to/run-in-a-cluster.md").read_text(encoding="utf-8")
    for name, above in (("kustomization.yaml", "../.."), ("team-a/kustomization.yaml", "../../..")):
        shown = (EXAMPLE / name).read_text(encoding="utf-8").replace(above, PLACE)
        shown = shown.replace("../cert-manager", f"{PLACE}/overlays/cert-manager")
        assert f"```yaml\n# namespaced/{name}\n{shown}```" in page, name


def test_all_teams_are_alike() -> None:
    """The second one shows that there may be more."""
    first, second = (EXAMPLE / f"team-{letter}" / "kustomization.yaml" for letter in "ab")
    assert first.read_text(encoding="utf-8").replace("team-a", "team-b") == second.read_text(encoding="utf-8")
