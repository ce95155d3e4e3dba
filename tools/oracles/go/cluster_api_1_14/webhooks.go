package main

import (
	"context"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrap "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	controlplane "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/admission"
	controlplaneconversion "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/conversion"
	core "sigs.k8s.io/cluster-api/core/webhooks/admission"
	coreconversion "sigs.k8s.io/cluster-api/core/webhooks/conversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type admission interface{ SetupWebhookWithManager(ctrl.Manager) error }

func (p *providers) webhooks(on sets.Set[string]) {
	coreconversion.SetAPIVersionGetter(p.apiVersion)
	controlplaneconversion.SetAPIVersionGetter(p.apiVersion)
	c := p.mgr.GetClient()
	of := map[string][]admission{
		partCore: {
			&core.ClusterClass{Client: c}, &core.Cluster{Client: c, ClusterCacheReader: p.clusterCache}, &core.Machine{},
			&core.MachineSet{}, &core.MachineDeployment{}, &core.MachineDrainRule{}, &core.MachineHealthCheck{},
			&core.MachinePool{},
		},
		partBootstrap: {&bootstrap.KubeadmConfig{}, &bootstrap.KubeadmConfigTemplate{}},
		partControlPlane: {
			&controlplane.KubeadmControlPlane{}, &controlplane.ScaleValidator{Client: c},
			&controlplane.KubeadmControlPlaneTemplate{},
		},
	}
	for part := range on {
		for _, hook := range of[part] {
			check(fmt.Sprintf("webhook %T", hook), hook.SetupWebhookWithManager(p.mgr))
		}
	}
}

// apiVersion gives the version that a kind's contract label names; the original is internal to its module.
func (p *providers) apiVersion(ctx context.Context, kind schema.GroupKind) (string, error) {
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	key := client.ObjectKey{Name: strings.ToLower(kind.Kind) + "s." + kind.Group}
	if err := p.mgr.GetClient().Get(ctx, key, definition); err != nil {
		return "", err
	}
	for _, contract := range []string{"v1beta2", "v1beta1"} {
		if versions := strings.Split(definition.Labels[clusterv1.GroupVersion.Group+"/"+contract], "_"); versions[0] != "" {
			return kind.Group + "/" + versions[len(versions)-1], nil
		}
	}
	return "", fmt.Errorf("no contract label on the definition of %s", kind)
}
