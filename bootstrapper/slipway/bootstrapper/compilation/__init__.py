"""From the neutral bundle to the one that a format takes.

compiler.py begins: the engine makes a plan (engine_plan.py), the items are lowered, and completion.py lowers the
execution. What machines of a class have in common is compiled once (machine_classes.py).
"""
