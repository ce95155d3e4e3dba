"""Diagnosis: from the logs of a machine that did not become a node to reason, evidence and remedy.

Pure: bytes in, findings out. The command line and whoever receives logs use the same code.
"""
