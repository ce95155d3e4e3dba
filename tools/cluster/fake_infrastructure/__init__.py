"""An infrastructure provider without any infrastructure, for releases of Cluster API that publish none.

It fulfils the contracts of InfraCluster, InfraMachine and InfraMachinePool (v1beta2) and nothing more: when a machine
has its bootstrap data it is provisioned at once, and a Node with its provider ID appears in the workload cluster, as a
kubelet would register it, if that cluster can be reached. ``spec.hold: true`` keeps any of its objects unprovisioned.
"""
