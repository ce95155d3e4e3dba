"""Real engines: every byte that Slipway renders is run by the program that will run it on a machine.

A string comparison cannot show whether cloud-init or Ignition would silently ignore a document; only the
program itself can. Each engine is one module with one or both of ``validate`` (findings of the engine's own
parser) and ``run`` (the machine that the engine left behind). ``python -m tools.oracles.build`` makes them.
"""
