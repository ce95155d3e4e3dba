"""A set of Cluster API manifests is read for its machines: which there are, and what is known of each.

Objects of other projects are read for what they tell about machines, and otherwise left alone.
"""
