"""The page on monitoring has every metric of our services' own with its labels, every alert, and no others."""

import re
from pathlib import Path

import yaml

from tests.monitoring.exposition import labelled

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/how-to/monitor.md").read_text(encoding="utf-8")


def test_every_metric_has_its_row() -> None:
    """A histogram is one metric, whose buckets and sums are not listed."""
    rows = re.findall(r"^\| `(slipway_(?:controller|node_gateway|reports)_\w+)` \| ([^|]*)\|", PAGE, flags=re.MULTILINE)
    reported = {
        name.removesuffix("_bucket"): labels - {"le"}
        for name, labels in labelled().items()
        if not name.endswith(("_count", "_sum"))
    }
    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows} == reported


def test_every_alert_has_its_row() -> None:
    """Who is called looks an alert up by its name."""
    tree = yaml.safe_load((ROOT / "deploy/monitoring/rules.yaml").read_text(encoding="utf-8"))
    alerts = {rule["alert"] for group in tree["spec"]["groups"] for rule in group["rules"]}
    assert set(re.findall(r"`(Slipway\w+)`", PAGE)) == alerts
