"""A real management cluster on loopback: API server, Cluster API and an infrastructure, without any machine.

What a controller does can only be judged by the API server and the Cluster API core that it will meet: defaults,
conversion webhooks, garbage collection and refused verbs are all theirs. ``python -m tools.cluster up`` starts one in
the background for a developer; tests take ``tools.cluster.management.ManagementCluster`` as a context manager.
"""
