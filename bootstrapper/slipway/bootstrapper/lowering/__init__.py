"""Rewrites what a provisioner does not declare into simpler parts that it does: the heart of N + M.

The bundle is an intermediate language. A pass takes the items of one feature, for one family of operating systems, and
emits items of features with lower rank, files to be installed by the runner, and steps of the phase PREPARE. What no
pass covers is refused, never dropped.
"""
