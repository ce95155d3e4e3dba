"""Chooses a provisioner and has it render, whatever it does wrong."""
