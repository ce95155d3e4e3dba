package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
)

func (p *providers) inMemory() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		cloudv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme,
	} {
		check("in-memory scheme", add(scheme))
	}
	memory := inmemoryruntime.NewManager(scheme)
	check("in-memory clouds", memory.Start(p.ctx))
	servers, err := inmemoryserver.NewWorkloadClustersMux(memory, *host)
	check("in-memory API servers", err)
	docker, err := container.NewDockerClient() // It does not connect; only the docker backend would.
	check("docker client", err)
	check("DevMachine", (&controllers.DevMachineReconciler{
		Client: p.mgr.GetClient(), ContainerRuntime: docker, ClusterCache: p.clusterCache,
		InMemoryManager: memory, APIServerMux: servers,
	}).SetupWithManager(p.ctx, p.mgr, workers(concurrency)))
	// One at a time, as upstream's program has it: they share the table of API servers.
	check("DevCluster", (&controllers.DevClusterReconciler{
		Client: p.mgr.GetClient(), ContainerRuntime: docker, InMemoryManager: memory, APIServerMux: servers,
	}).SetupWithManager(p.ctx, p.mgr, workers(1)))
}
