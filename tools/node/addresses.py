"""The addresses of a site: one small network, the same in every site, since no site sees another."""

from __future__ import annotations

GATEWAY = "10.77.0.1"
PREFIX_LENGTH = 24
LARGEST_NUMBER = 40


def machine(number: int) -> str:
    """The address of the n-th machine."""
    return f"10.77.0.{10 + number}"


def pods(number: int) -> str:
    """The pods of the n-th machine."""
    return f"10.244.{number}.0/24"
