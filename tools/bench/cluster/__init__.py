"""How fast bootstrap providers are in a real management cluster: from ready infrastructure to the last data Secret.

Machines and configs are there before, core and infrastructure are stopped, and one provider at a time runs, in
processes of its own and with its published roles. Calls are counted from the API server's audit log.
"""
