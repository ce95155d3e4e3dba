package main

import (
	"context"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrap "sigs.k8s.io/cluster-api/bootstrap/kubeadm/controllers"
	"sigs.k8s.io/cluster-api/controllers"
	controlplane "sigs.k8s.io/cluster-api/controlplane/kubeadm/controllers"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

func (p *providers) core() {
	p.index()
	c, r, cc := p.mgr.GetClient(), p.mgr.GetAPIReader(), p.clusterCache
	p.add("Cluster", (&controllers.ClusterReconciler{
		Client: c, APIReader: r, ClusterCache: cc, RemoteConnectionGracePeriod: 50 * time.Second,
	}).SetupWithManager)
	p.add("Machine", (&controllers.MachineReconciler{
		Client: c, APIReader: r, ClusterCache: cc, RemoteConditionsGracePeriod: 5 * time.Minute,
	}).SetupWithManager)
	p.add("MachineSet", (&controllers.MachineSetReconciler{
		Client: c, APIReader: r, ClusterCache: cc, PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll),
	}).SetupWithManager)
	p.add("MachineDeployment", (&controllers.MachineDeploymentReconciler{Client: c, APIReader: r}).SetupWithManager)
	p.add("MachineHealthCheck", (&controllers.MachineHealthCheckReconciler{Client: c, ClusterCache: cc}).SetupWithManager)
	if feature.Gates.Enabled(feature.MachinePool) {
		p.add("MachinePool", (&controllers.MachinePoolReconciler{Client: c, APIReader: r, ClusterCache: cc}).SetupWithManager)
	}
	if feature.Gates.Enabled(feature.ClusterTopology) {
		p.add("ClusterClass", (&controllers.ClusterClassReconciler{Client: c}).SetupWithManager)
		p.add("ClusterTopology", (&controllers.ClusterTopologyReconciler{Client: c, APIReader: r, ClusterCache: cc}).SetupWithManager)
		p.add("MachineDeploymentTopology", (&controllers.MachineDeploymentTopologyReconciler{Client: c, APIReader: r}).SetupWithManager)
		p.add("MachineSetTopology", (&controllers.MachineSetTopologyReconciler{Client: c, APIReader: r}).SetupWithManager)
	}
}

func (p *providers) bootstrap() {
	p.add("KubeadmConfig", (&bootstrap.KubeadmConfigReconciler{
		Client: p.mgr.GetClient(), SecretCachingClient: p.secretClient, ClusterCache: p.clusterCache,
		TokenTTL: bootstrap.DefaultTokenTTL,
	}).SetupWithManager)
}

func (p *providers) controlPlane() {
	p.add("KubeadmControlPlane", (&controlplane.KubeadmControlPlaneReconciler{
		Client: p.mgr.GetClient(), APIReader: p.mgr.GetAPIReader(), SecretCachingClient: p.secretClient,
		ClusterCache: p.clusterCache, EtcdDialTimeout: 10 * time.Second, EtcdCallTimeout: 15 * time.Second,
		EtcdLogger: zap.NewNop(), RemoteConditionsGracePeriod: 5 * time.Minute,
	}).SetupWithManager)
}

func (p *providers) add(kind string, setup func(context.Context, ctrl.Manager, controller.Options) error) {
	check(kind, setup(p.ctx, p.mgr, workers(concurrency)))
}
