package provisioner

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

// settings are those that the contract asks of every provisioner: flags, or SLIPWAY_<FLAG> in the environment.
type settings struct {
	listen, advertise, certificates, registry string
	insecure                                  bool
	propagation, grace                        float64
}

// Main is the process of a provisioner: it reads the command line, serves, drains and ends.
func Main(one Provisioner) {
	given, err := parse(one.Name, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stdout, nil)))
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	if err := serve(stop, given, one); err != nil {
		slog.Error("failed", "error", err.Error())
		os.Exit(1)
	}
}

func parse(name string, arguments []string) (settings, error) {
	var given settings
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&given.listen, "listen-address", "[::]:9443", "where to listen, `HOST:PORT`")
	flags.StringVar(&given.advertise, "advertise-address", "", "where others reach this process, `HOST:PORT`")
	flags.StringVar(&given.certificates, "tls-cert-dir", "", "`directory` with tls.crt, tls.key and ca.crt")
	flags.StringVar(&given.registry, "registry-address", "", "the registry, `HOST:PORT`")
	flags.BoolVar(&given.insecure, "insecure", false, "serve this machine only, without TLS")
	flags.Float64Var(&given.propagation, "drain-propagation-seconds", -1, "wait after NOT_SERVING; 5, insecure 0")
	flags.Float64Var(&given.grace, "drain-grace-seconds", 20, "time for calls in flight at the end")
	var wrong error
	flags.VisitAll(func(one *flag.Flag) {
		name := "SLIPWAY_" + strings.ToUpper(strings.ReplaceAll(one.Name, "-", "_"))
		value := os.Getenv(name)
		if value == "" {
			return
		}
		// Go takes more words for yes and no than the contract has.
		_, decides := one.Value.(interface{ IsBoolFlag() bool })
		if other := decides && value != "true" && value != "false"; other || one.Value.Set(value) != nil {
			wrong = fmt.Errorf("%s has an invalid value for --%s", name, one.Name)
		}
	})
	if err := flags.Parse(arguments); err != nil || wrong != nil {
		return given, errors.Join(err, wrong)
	}
	host, _, err := net.SplitHostPort(given.listen)
	switch {
	case err != nil:
		return given, errors.New("--listen-address: must be HOST:PORT")
	case given.insecure == (given.certificates != ""):
		return given, errors.New("give --tls-cert-dir DIR, or --insecure to serve this machine only")
	case given.insecure && host != "localhost" && !net.ParseIP(host).IsLoopback():
		return given, errors.New("--insecure serves this machine only: give --listen-address 127.0.0.1:PORT")
	}
	if given.propagation < 0 && !given.insecure {
		given.propagation = 5
	}
	return given, nil
}

// serve serves until stop is done, then drains: NOT_SERVING, deregister, time for that to spread, calls in flight.
func serve(stop context.Context, given settings, one Provisioner) error {
	options := []grpc.ServerOption{
		grpc.UnaryInterceptor(guarded),
		// Clients may ask after us once a minute; what is Go's own would hang up on them.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 30 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 5 * time.Minute}),
	}
	outgoing := insecure.NewCredentials
	if !given.insecure {
		files := &certificates{folder: given.certificates}
		if _, err := files.current(); err != nil {
			return err
		}
		options = append(options, grpc.Creds(files.server()))
		outgoing = files.client
	}
	listener, err := net.Listen("tcp", given.listen)
	if err != nil {
		return err
	}
	server, state := grpc.NewServer(options...), health.NewServer()
	pb.RegisterProvisionerServiceServer(server, &service{Provisioner: one})
	healthpb.RegisterHealthServer(server, state)
	state.SetServingStatus(pb.ProvisionerService_ServiceDesc.ServiceName, healthpb.HealthCheckResponse_SERVING)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	if given.advertise == "" {
		given.advertise = listener.Addr().String()
		if listener.Addr().(*net.TCPAddr).IP.IsUnspecified() {
			name, _ := os.Hostname()
			given.advertise = fmt.Sprintf("%s:%d", name, listener.Addr().(*net.TCPAddr).Port)
		}
	}
	slog.Info("listening", "event", "listening", "address", given.advertise)
	lease := keep(given.registry, one.Name, given.advertise, outgoing)
	select {
	case err = <-failed:
	case <-stop.Done():
	}
	slog.Info("draining", "event", "draining")
	state.Shutdown()
	lease.end()
	time.Sleep(time.Duration(given.propagation * float64(time.Second)))
	defer time.AfterFunc(time.Duration(given.grace*float64(time.Second)), server.Stop).Stop()
	server.GracefulStop()
	return err
}
