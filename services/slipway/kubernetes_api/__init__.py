"""The only package that imports the Kubernetes client: connections, calls, watches, leases, access reviews.

Objects are plain JSON trees here and in every service: the generated models of the client drop fields that they do not
know, and most of the objects that the controller reads are of other projects' kinds.
"""
