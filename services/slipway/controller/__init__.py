"""In a management cluster: SlipwayConfigs of Machines become data Secrets that Cluster API hands to the machines.

A thin adapter. It watches and collects facts, asks the same code that answers GetUserData, and writes a Secret and a
status. What it decides is pure; only the package `kubernetes` below knows the Kubernetes client.
"""

import slipway.rpc  # noqa: F401  # before all else: it imports structlog without rich
