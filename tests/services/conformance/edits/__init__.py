"""Edits of the source of provisioners: slips of authors, one at a time, in two languages.

The mutants beside this folder bend a provisioner from outside, and each check has one. These were written before any of
them was tried on the checks, to measure what those miss: docs/conformance has the figures.
"""
