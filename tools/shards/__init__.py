"""Which suites of real programs a change can affect, when each last ran in full, and the run of those that are due.

``tests/shards.toml`` is the map, ``tests/shards.lock`` the record.
"""
