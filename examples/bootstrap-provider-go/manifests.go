package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	bootstrapv1 "github.com/k3s-io/cluster-api-k3s/bootstrap/api/v1beta2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "sigs.k8s.io/cluster-api/api/v1beta1"
	"sigs.k8s.io/cluster-api/util/conditions"
)

// world is what the provider's controller reads from the management cluster for one machine.
type world struct {
	cluster *clusterv1.Cluster
	machine *clusterv1.Machine
	config  *bootstrapv1.KThreesConfig
	secrets map[string]map[string][]byte
}

// initialized tells whether another machine made the cluster already.
func (w *world) initialized() bool {
	return conditions.IsTrue(w.cluster, clusterv1.ControlPlaneInitializedCondition)
}

// controlPlane tells whether the machine is one of the control plane.
func (w *world) controlPlane() bool {
	_, ok := w.machine.Labels[clusterv1.MachineControlPlaneLabel]
	return ok
}

// readWorld reads a stream of manifests: a Cluster, a Machine, a KThreesConfig, and Secrets.
func readWorld(manifests io.Reader) (*world, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(manifests))
	read := &world{secrets: map[string]map[string][]byte{}}
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		object, kind, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		switch object := object.(type) {
		case *clusterv1.Cluster:
			read.cluster = object
		case *clusterv1.Machine:
			read.machine = object
		case *bootstrapv1.KThreesConfig:
			read.config = object
		case *corev1.Secret:
			read.secrets[object.Name] = object.Data
		default:
			return nil, fmt.Errorf("%s is not expected here", kind.Kind)
		}
	}
	if read.cluster == nil || read.machine == nil || read.config == nil {
		return nil, errors.New("a Cluster, a Machine and a KThreesConfig are needed")
	}
	return read, nil
}
