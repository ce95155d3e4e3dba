"""Alerts and dashboard: real Prometheus reads and runs them, and every metric in them exists in real processes."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.monitoring.exposition import exposition, labelled
from tools.cluster import programs
from tools.oracles.go_programs import PROGRAMS

pytestmark = pytest.mark.engine
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
MONITORING = DEPLOY / "monitoring"
OF_PROMETHEUS = {"namespace", "pod", "job", "instance", "container", "le"}
"""Labels that Prometheus adds to what a PodMonitor scrapes, and that of the buckets."""
VARIABLES = {"$namespace": ".+"}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The groups of the PrometheusRule as a file of Prometheus' own."""
    tree = yaml.safe_load((MONITORING / "rules.yaml").read_text(encoding="utf-8"))
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(tree["spec"]), encoding="utf-8")
    return path


def promtool(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the real promtool."""
    command = [PROGRAMS["promtool"].require(), *arguments]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


def expressions() -> Iterator[tuple[str, str]]:
    """Give every expression with the place that it is in, variables of the dashboard filled in."""
    for group in yaml.safe_load((MONITORING / "rules.yaml").read_text(encoding="utf-8"))["spec"]["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for panel in json.loads((MONITORING / "slipway.json").read_text(encoding="utf-8"))["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            assert "$" not in expression, panel["title"]
            yield panel["title"], expression


def parsed() -> dict[str, Any]:
    """Return what Prometheus' own parser reads in every expression."""
    document = json.dumps([expression for _, expression in expressions()]).encode()
    return PROGRAMS["promql"].ask(document=document)


def test_every_metric_and_label_exists(engine: Callable[..., None], tmp_path: Path) -> None:
    """Alerts and dashboard read what running processes report; a label is one of the metric, or of Prometheus."""
    engine("promql")
    read, known = parsed(), exposition(tmp_path)
    for name, labels in labelled().items():
        assert name in known, f"{name} is not reported by a service that runs"
        known[name] |= labels
    for place, expression in expressions():
        answer = read[expression]
        assert "error" not in answer, (place, answer)
        assert answer["metrics"], place
        for metric, labels in answer["metrics"].items():
            assert metric in known, (place, metric)
            used = {*labels, *(answer["labels"] or ())}
            assert used <= known[metric] | OF_PROMETHEUS, (place, metric, used - known[metric])


def test_the_parser_refuses_and_names(engine: Callable[..., None]) -> None:
    """The check above can fail: a wrong expression has an error, and metrics and labels are those of the text."""
    engine("promql")
    text = 'sum by (a) (rate(x_total{b="1"}[5m])) / on (c) y'
    read = PROGRAMS["promql"].ask(document=json.dumps([text, "sum by ("]).encode())
    assert "error" in read["sum by ("]
    assert read[text]["metrics"] == {"x_total": ["b"], "y": []}
    assert sorted(read[text]["labels"]) == ["a", "c"]


def test_the_alerts_pass_promtool(engine: Callable[..., None], rules: Path) -> None:
    """Promtool takes the file, and its unit tests of every alert pass; they fail for another threshold."""
    engine("promtool")
    checked = promtool("check", "rules", "--lint=all", "--lint-fatal", rules, folder=rules.parent)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    shutil.copyfile(Path(__file__).with_name("rules_test.yaml"), rules.parent / "rules_test.yaml")
    tested = promtool("test", "rules", "rules_test.yaml", folder=rules.parent)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    text = rules.read_text(encoding="utf-8")
    for threshold, changed in (("> 100", "> 1000"), ("== 0", "== 2"), ("403|429", "429")):
        assert threshold in text
        rules.write_text(text.replace(threshold, changed), encoding="utf-8")
        assert promtool("test", "rules", "rules_test.yaml", folder=rules.parent).returncode != 0, changed


def test_each_alert_is_missed_where_it_never_fires(engine: Callable[..., None], rules: Path) -> None:
    """No alert is without a unit test, and each has a severity and words for the person who is called."""
    engine("promtool")
    shutil.copyfile(Path(__file__).with_name("rules_test.yaml"), rules.parent / "rules_test.yaml")
    tree = yaml.safe_load(rules.read_text(encoding="utf-8"))
    alerts = [rule for group in tree["groups"] for rule in group["rules"]]
    assert alerts
    for alert in alerts:
        assert alert["labels"]["severity"] in {"warning", "critical"}
        assert {"summary", "description"} == alert["annotations"].keys()
        expression, alert["expr"] = alert["expr"], "vector(0) > 1"
        rules.write_text(yaml.safe_dump(tree), encoding="utf-8")
        assert promtool("test", "rules", "rules_test.yaml", folder=rules.parent).returncode != 0, alert["alert"]
        alert["expr"] = expression


def test_the_component_goes_with_an_overlay(engine: Callable[..., None], tmp_path: Path) -> None:
    """It renders beside an installation; the port that is scraped is one of every pod that it selects."""
    engine("kubebox-1.34")
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    own = tmp_path / "deploy" / "own"
    own.mkdir()
    names = ("node-gateway", "reports", "reports-web", "directory")
    components = [*(f"../kubernetes/{name}" for name in names), "../monitoring"]
    tree = {"resources": ["../kubernetes/overlays/separate/own-certificates"], "components": components}
    (own / "kustomization.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    kubectl = programs.link(tmp_path / "bin") / "kubectl"
    done = subprocess.run([kubectl, "kustomize", own], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    objects = [tree for tree in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if tree]
    kinds = {entry["kind"]: entry for entry in objects}
    (monitored,) = kinds["PodMonitor"]["spec"]["podMetricsEndpoints"]
    (selected,) = kinds["PodMonitor"]["spec"]["selector"]["matchExpressions"]
    pods = [entry["spec"]["template"] for entry in objects if entry["kind"] == "Deployment"]
    assert {pod["metadata"]["labels"][selected["key"]] for pod in pods} == set(selected["values"])
    for pod in pods:
        ports = [port["name"] for container in pod["spec"]["containers"] for port in container["ports"]]
        assert monitored["port"] in ports
    boards = [entry for entry in objects if entry["metadata"].get("labels", {}).get("grafana_dashboard") == "1"]
    assert json.loads(boards[0]["data"]["slipway.json"])["title"] == "Slipway"
