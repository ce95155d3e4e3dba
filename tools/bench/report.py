"""Writes the measured figures as a reference page, beside the aims that they are held against."""

from collections.abc import Sequence
from typing import Any

KB = 1000
BUSY = 16

_INTRODUCTION = """# Performance

Measured by `make bench`, which starts all six processes and calls them over gRPC on loopback without TLS; the client
runs on the same machine, which did other work meanwhile: the figures by CPU time are the steadier ones. No test repeats
this: a timed test says more about the machine than about the code.
"""
_KEYS = """
The compressed size of a control-plane init is bounded from below by its keys: eight PEM blocks of RSA-2048 are 10.4 kB
and hardly compress; 7.2 kB of the result are theirs. With ECDSA P-256, the default of native specs, the same machine
needs less than half.
"""
_NOTHING = """
How fast the machine is shows by a call that takes no work (GetProvisionerInfo): gRPC and our own server took {p50} ms
for it, p50 with one in flight, and {server_cpu_ms} ms of the server's CPU with {busy}. That is a part of each Render.
"""
_RENDER = """
## Render over gRPC

Milliseconds; renders per second of wall time and per second of the provisioner's CPU time; the client's own CPU time a
call stands beside them. Each load is the one between of three.
"""
_USER_DATA = """
## GetUserData end to end

Spec in, user data out: check, engine, lowering, Render, check. One call in flight.
"""
_SIZE = """
## Size of user data

Bytes. `bare` machines have no user content and are imported from Cluster API, with RSA keys as there.
"""
_LARGEST = """
## The largest questions

A worker with 1000 commands in each of boot, pre and post, as many as the contract allows; asked once. Health is asked
for meanwhile: its slowest answer shows how long one such request delays the others. An answer of 0 bytes is a
refusal.
"""
_MEMORY = """
## Memory

Resident memory in MiB: after the ordinary calls, and after the largest questions.
"""


def page(result: dict[str, Any]) -> str:
    """Give docs/reference/performance.md."""
    machine = f"Machine: {result['machine']}. All six processes were ready after {result['all_ready_seconds']} s.\n"
    memory = [(name, str(row["ordinary"]), str(row["largest"])) for name, row in result["rss_mib"].items()]
    parts = [
        _INTRODUCTION,
        machine,
        "## Aims\n",
        _table(("what", "aim", "measured", "verdict"), _aims(result)),
        _NOTHING.format(busy=BUSY, **result["nothing"]).rstrip(),
        _KEYS,
        _RENDER,
        _rows(result["render"]),
        _USER_DATA,
        _rows(result["get_user_data"]),
        _SIZE,
        _rows(result["size"]),
        _LARGEST,
        _rows(result["largest"]),
        _MEMORY,
        _table(("process", "ordinary", "largest"), memory),
    ]
    return "\n".join(parts) + "\n"


def _aims(result: dict[str, Any]) -> list[tuple[str, ...]]:
    worker = _worker(result, 1)
    many = _worker(result, BUSY)
    init = next(row for row in result["size"] if (row["provisioner"], row["machine"]) == ("cloud-init", "bare-init"))
    provisioners = [row for name, row in result["rss_mib"].items() if name not in {"registry", "bootstrapper"}]
    memory, largest = (max(row[when] for row in provisioners) for when in ("ordinary", "largest"))
    held = f"{memory} MiB at most; {largest} after the largest questions"
    rate = many["per_server_cpu_second"]
    text = f"{rate:.0f} (client CPU {many['client_cpu_ms_per_call']} ms a call)"
    return [
        ("p50 of a cloud-init worker, one call in flight", "< 2 ms", f"{worker['p50']} ms", _verdict(worker["p50"], 2)),
        ("cloud-init workers per CPU second of the server", ">= 800", text, _verdict(-rate, -800)),
        ("memory of a provisioner", "< 80 MiB", held, _verdict(memory, 80)),
        ("control-plane init, RSA, raw", "<= 13.5 kB", f"{init['raw'] / KB:.1f} kB", _verdict(init["raw"], 13.5 * KB)),
        ("the same after gzip", "< 7.7 kB", f"{init['gzip'] / KB:.1f} kB", _verdict(init["gzip"], 7.7 * KB)),
    ]


def _worker(result: dict[str, Any], in_flight: int) -> dict[str, Any]:
    wanted = ("cloud-init", "worker", in_flight)
    row_found: dict[str, Any] = next(
        row for row in result["render"] if (row["provisioner"], row["role"], row["in_flight"]) == wanted
    )
    return row_found


def _verdict(measured: float, most: float) -> str:
    return "met" if measured <= most else "not met, see below"


def _rows(rows: Sequence[dict[str, Any]]) -> str:
    heads = list(rows[0])
    cells = [tuple(str(row[head]) for head in heads) for row in rows]
    return _table([head.replace("_", " ") for head in heads], cells)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
