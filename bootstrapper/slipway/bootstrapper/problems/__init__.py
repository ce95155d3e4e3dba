"""One model of what is wrong with a machine, and the only place where it becomes an error, a diagnostic or a text.

Engines, passes and checks make a Problem (problem.py), with a remedy (remedies.py). places.py finds its place in the
user's documents. conversion.py makes problems of what provisioners answer, and answers of problems;
error_texts.py makes the texts of conditions and terminals.
"""
