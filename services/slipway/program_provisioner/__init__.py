"""A provisioner out of any program: it answers two questions on standard output, and all else is done around it.

`wire` is what the program reads and writes, `processes` and `long_lived` how it is run, `core` the contract around it.
"""
