package main

import (
	"context"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/reconcilers/kubeadmconfig"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/reconcilers/kubeadmcontrolplane"
	"sigs.k8s.io/cluster-api/core/reconcilers/cluster"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterclass"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinedeployment"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinepool"
	"sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	topologycluster "sigs.k8s.io/cluster-api/core/reconcilers/topology/cluster"
	topologymachinedeployment "sigs.k8s.io/cluster-api/core/reconcilers/topology/machinedeployment"
	topologymachineset "sigs.k8s.io/cluster-api/core/reconcilers/topology/machineset"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/cluster-api/util/index"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

func (p *providers) core() {
	check("indexes", index.AddDefaultIndexes(p.ctx, p.mgr))
	c, r, cc := p.mgr.GetClient(), p.mgr.GetAPIReader(), p.clusterCache
	p.add("Cluster", (&cluster.Reconciler{
		Client: c, APIReader: r, ClusterCache: cc, RemoteConnectionGracePeriod: 50 * time.Second,
	}).SetupWithManager)
	p.add("Machine", (&machine.Reconciler{
		Client: c, APIReader: r, ClusterCache: cc, RemoteConditionsGracePeriod: 5 * time.Minute,
	}).SetupWithManager)
	p.add("MachineSet", (&machineset.Reconciler{
		Client: c, APIReader: r, ClusterCache: cc, PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll),
	}).SetupWithManager)
	p.add("MachineDeployment", (&machinedeployment.Reconciler{Client: c, APIReader: r}).SetupWithManager)
	p.add("MachineHealthCheck", (&machinehealthcheck.Reconciler{Client: c, ClusterCache: cc}).SetupWithManager)
	if feature.Gates.Enabled(feature.MachinePool) {
		p.add("MachinePool", (&machinepool.Reconciler{Client: c, APIReader: r, ClusterCache: cc}).SetupWithManager)
	}
	if feature.Gates.Enabled(feature.ClusterTopology) {
		p.add("ClusterClass", (&clusterclass.Reconciler{Client: c}).SetupWithManager)
		p.add("ClusterTopology", (&topologycluster.Reconciler{Client: c, APIReader: r, ClusterCache: cc}).SetupWithManager)
		p.add("MachineDeploymentTopology", (&topologymachinedeployment.Reconciler{Client: c, APIReader: r}).SetupWithManager)
		p.add("MachineSetTopology", (&topologymachineset.Reconciler{Client: c, APIReader: r}).SetupWithManager)
	}
}

func (p *providers) bootstrap() {
	p.add("KubeadmConfig", (&kubeadmconfig.Reconciler{
		Client: p.mgr.GetClient(), APIReader: p.mgr.GetAPIReader(), SecretCachingClient: p.secretClient,
		ClusterCache: p.clusterCache, TokenTTL: kubeadmconfig.DefaultTokenTTL,
	}).SetupWithManager)
}

func (p *providers) controlPlane() {
	p.add("KubeadmControlPlane", (&kubeadmcontrolplane.Reconciler{
		Client: p.mgr.GetClient(), APIReader: p.mgr.GetAPIReader(), SecretCachingClient: p.secretClient,
		ClusterCache: p.clusterCache, EtcdDialTimeout: 10 * time.Second, EtcdCallTimeout: 15 * time.Second,
		EtcdLogger: zap.NewNop(), RemoteConditionsGracePeriod: 5 * time.Minute,
	}).SetupWithManager)
}

func (p *providers) add(kind string, setup func(context.Context, ctrl.Manager, controller.Options) error) {
	check(kind, setup(p.ctx, p.mgr, workers(concurrency)))
}
