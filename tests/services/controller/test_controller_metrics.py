"""What the controller counts, as Prometheus reads it."""

from types import SimpleNamespace

from prometheus_client import CollectorRegistry, generate_latest

from slipway.controller.controller import Controller
from slipway.controller.metrics import Load, Metrics, MetricsCollector
from slipway.controller.watches import Watches
from tests.services.kubernetes_api.memory_api import MemoryApi

LOADS = [
    Load("SlipwayConfig", waiting=7, delayed=2, working=0, halted={"WaitingForOwner": 4}),
    Load("KubeadmConfig", waiting=0, delayed=0, working=1, halted={}),
]


def test_the_tally_is_read_as_it_is_now() -> None:
    """Counters by reason and call, the queue, and a histogram whose buckets add up."""
    metrics = Metrics()
    registry = CollectorRegistry()
    registry.register(MetricsCollector(metrics, loads=lambda: LOADS, calls=lambda: {("GET", "Secret", 200): 3}))
    metrics.halts["WaitingForOwner"] = 2
    metrics.renders = 5
    metrics.leading = True
    for seconds in (0.001, 0.2, 60.0):
        metrics.reconciled(seconds)
    text = generate_latest(registry).decode()
    for line in (
        "slipway_controller_leading 1.0",
        'slipway_controller_queue_length{kind="SlipwayConfig"} 7.0',
        'slipway_controller_delayed{kind="SlipwayConfig"} 2.0',
        'slipway_controller_in_progress{kind="KubeadmConfig"} 1.0',
        'slipway_controller_halted{kind="SlipwayConfig",reason="WaitingForOwner"} 4.0',
        "slipway_controller_renders_total 5.0",
        'slipway_controller_halts_total{reason="WaitingForOwner"} 2.0',
        'slipway_controller_api_calls_total{kind="Secret",status="200",verb="GET"} 3.0',
        'slipway_controller_reconcile_seconds_bucket{le="0.005"} 1.0',
        'slipway_controller_reconcile_seconds_bucket{le="0.25"} 2.0',
        'slipway_controller_reconcile_seconds_bucket{le="10.0"} 2.0',
        'slipway_controller_reconcile_seconds_bucket{le="+Inf"} 3.0',
        "slipway_controller_reconcile_seconds_count 3.0",
    ):
        assert line in text.splitlines(), text


async def test_a_replica_that_does_not_lead_has_no_work() -> None:
    """It follows every config, to know all when it leads, and would look as if it could not keep up."""
    metrics, watches = Metrics(), Watches.of(MemoryApi())  # type: ignore[arg-type]
    controller = Controller(watches, SimpleNamespace(metrics=metrics), workers=1)  # type: ignore[arg-type]
    controller.queue.add(("default", "a"))
    watches.halted["default", "b"] = "WaitingForOwner"
    assert controller.loads() == [Load("SlipwayConfig")]
    metrics.leading = True
    assert controller.loads() == [Load("SlipwayConfig", waiting=1, halted={"WaitingForOwner": 1})]
