// Command cluster_api_1_12 runs providers of Cluster API 1.12, those that --parts names, in one process.
//
// It holds glue only: reconcilers and webhooks are the published modules' own. The providers' original programs listen
// on every address and ask a new workload cluster every 30 seconds; this one keeps to the address it is told, and asks
// every 2 seconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/sets"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/api/core/v1beta2/index"
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/feature"
	infrav1beta1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta1"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	partCore         = "core"
	partBootstrap    = "kubeadm-bootstrap"
	partControlPlane = "kubeadm-control-plane"
	partInMemory     = "in-memory"

	concurrency   = 10
	retryInterval = 2 * time.Second
)

var (
	parts        = pflag.StringSlice("parts", []string{partCore, partBootstrap, partControlPlane, partInMemory}, "which providers to run")
	hooks        = pflag.Bool("webhooks", true, "serve the admission and conversion webhooks")
	host         = pflag.String("host", "127.0.0.1", "address of the webhooks and of the in-memory API servers")
	webhookPort  = pflag.Int("webhook-port", 9443, "port of the webhooks")
	webhookCerts = pflag.String("webhook-cert-dir", "", "folder with tls.crt and tls.key")
	healthAddr   = pflag.String("health-addr", "127.0.0.1:9440", "address of /readyz")
	qps          = pflag.Float32("kube-api-qps", 100, "requests per second to the management cluster")
	burst        = pflag.Int("kube-api-burst", 200, "requests at once to the management cluster")
)

// providers is what every reconciler of this process is set up with.
type providers struct {
	ctx          context.Context
	mgr          ctrl.Manager
	secretClient client.Client
	clusterCache clustercache.ClusterCache
}

func check(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func workers(count int) controller.Options {
	return controller.Options{MaxConcurrentReconciles: count}
}

func main() {
	klog.InitFlags(nil)
	pflag.CommandLine.AddGoFlagSet(flag.CommandLine)
	feature.MutableGates.AddFlag(pflag.CommandLine)
	pflag.Parse()
	ctrl.SetLogger(klog.Background())
	on := sets.New(*parts...)

	config := ctrl.GetConfigOrDie() // --kubeconfig or $KUBECONFIG
	config.QPS, config.Burst = *qps, *burst
	config.UserAgent = remote.DefaultClusterAPIUserAgent((*parts)[0])
	mgr, err := ctrl.NewManager(config, options(newScheme()))
	check("manager", err)
	p := &providers{ctx: ctrl.SetupSignalHandler(), mgr: mgr}
	p.secretClient, err = client.New(config, client.Options{
		HTTPClient: mgr.GetHTTPClient(), Cache: &client.CacheOptions{Reader: mgr.GetCache()},
	})
	check("secret client", err)
	p.clusterCache = p.newClusterCache()

	setup := map[string]func(){
		partCore: p.core, partBootstrap: p.bootstrap, partControlPlane: p.controlPlane, partInMemory: p.inMemory,
	}
	for part := range on {
		if setup[part] == nil {
			check("--parts", fmt.Errorf("there is no %q", part))
		}
		setup[part]()
	}
	if *hooks {
		p.webhooks(on)
	}
	check("readyz", mgr.AddReadyzCheck("webhooks", func(r *http.Request) error {
		if *hooks {
			return mgr.GetWebhookServer().StartedChecker()(r)
		}
		return nil
	}))
	check("run", mgr.Start(p.ctx))
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme,
		clusterv1beta1.AddToScheme, clusterv1.AddToScheme,
		addonsv1.AddToScheme, runtimev1.AddToScheme, ipamv1.AddToScheme,
		bootstrapv1beta1.AddToScheme, bootstrapv1.AddToScheme,
		controlplanev1beta1.AddToScheme, controlplanev1.AddToScheme,
		infrav1beta1.AddToScheme, infrav1.AddToScheme,
	} {
		check("scheme", add(scheme))
	}
	return scheme
}

// options are those of the original programs, without what only one of them may strip from its cache.
func options(scheme *runtime.Scheme) ctrl.Options {
	ofCluster, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil)
	check("selector", err)
	sync := 10 * time.Minute
	made := ctrl.Options{
		Scheme:                 scheme,
		HealthProbeBindAddress: *healthAddr,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{SyncPeriod: &sync, ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: labels.NewSelector().Add(*ofCluster)},
		}},
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor:   []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}},
			Unstructured: true,
		}},
	}
	if *hooks {
		made.WebhookServer = webhook.NewServer(webhook.Options{Host: *host, Port: *webhookPort, CertDir: *webhookCerts})
	}
	return made
}

func (p *providers) newClusterCache() clustercache.ClusterCache {
	made, err := clustercache.SetupWithManager(p.ctx, p.mgr, clustercache.Options{
		SecretClient: p.secretClient,
		Cache:        clustercache.CacheOptions{Indexes: []clustercache.CacheOptionsIndex{clustercache.NodeProviderIDIndex}},
		Client: clustercache.ClientOptions{
			QPS: 20, Burst: 30, UserAgent: p.mgr.GetConfig().UserAgent,
			Cache: clustercache.ClientCacheOptions{DisableFor: []client.Object{
				&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Pod{}, &appsv1.Deployment{}, &appsv1.DaemonSet{},
				&storagev1.VolumeAttachment{}, &corev1.PersistentVolume{},
			}},
		},
	}, workers(concurrency))
	check("cluster cache", err)
	made.(interface{ SetConnectionCreationRetryInterval(time.Duration) }).SetConnectionCreationRetryInterval(retryInterval)
	return made
}

func (p *providers) index() {
	check("indexes", index.AddDefaultIndexes(p.ctx, p.mgr))
}
