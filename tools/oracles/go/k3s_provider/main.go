// Command k3s_provider gives the user data of one machine exactly as cluster-api-k3s does.
//
// It runs the published reconciler on a client that holds the manifests of standard input: Cluster, Machine,
// KThreesConfig and Secrets. Standard output is the value of the data Secret that the reconciler creates.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	bootstrapv1 "github.com/k3s-io/cluster-api-k3s/bootstrap/api/v1beta2"
	"github.com/k3s-io/cluster-api-k3s/bootstrap/controllers"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "sigs.k8s.io/cluster-api/api/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// alone is the lock of a control plane that has no second machine.
type alone struct{}

func (alone) Lock(context.Context, *clusterv1.Cluster, *clusterv1.Machine) bool { return true }
func (alone) Unlock(context.Context, *clusterv1.Cluster) bool                   { return true }

func main() {
	data, err := userData(context.Background(), os.Stdin)
	if err == nil {
		_, err = os.Stdout.Write(data)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func userData(ctx context.Context, manifests io.Reader) ([]byte, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	objects, err := read(scheme, manifests)
	if err != nil {
		return nil, err
	}
	var config *bootstrapv1.KThreesConfig
	for _, object := range objects {
		if found, ok := object.(*bootstrapv1.KThreesConfig); ok {
			config = found
		}
	}
	if config == nil {
		return nil, errors.New("no KThreesConfig in the manifests")
	}
	world := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&bootstrapv1.KThreesConfig{}, &clusterv1.Cluster{}, &clusterv1.Machine{}).Build()
	reconciler := &controllers.KThreesConfigReconciler{
		Client: world, Log: logr.Discard(), KThreesInitLock: alone{}, Scheme: scheme,
	}
	key := client.ObjectKeyFromObject(config)
	if _, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key}); err != nil {
		return nil, err
	}
	secret := &corev1.Secret{}
	if err := world.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("the reconciler made no data: %w", err)
	}
	return secret.Data["value"], nil
}

func read(scheme *runtime.Scheme, manifests io.Reader) ([]client.Object, error) {
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(manifests))
	var objects []client.Object
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object.(client.Object))
	}
}
