"""The one room that knows the Kubernetes client: connections, calls, watches, leases.

Objects are plain JSON trees here and everywhere in the controller: the generated models of the client drop fields that
they do not know, and most of what the controller reads is of other projects' kinds.
"""
