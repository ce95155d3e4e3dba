package provisioner

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

// lease keeps this process listed in the registry: it registers, renews in time, and registers again when the registry
// has forgotten it. A registry that is away is asked again, for as long as the process lives.
type lease struct {
	registry string
	request  *pb.RegisterRequest
	secured  func() credentials.TransportCredentials
	stop     context.CancelFunc
	ended    chan struct{}
	id       string
}

// keep begins to keep a lease; without a registry there is nothing to keep.
func keep(registry, name, endpoint string, secured func() credentials.TransportCredentials) *lease {
	running, stop := context.WithCancel(context.Background())
	request := &pb.RegisterRequest{Name: name, InstanceId: rand.Text(), Endpoint: endpoint}
	made := &lease{registry: registry, request: request, secured: secured, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(made.ended)
		for backoff := time.Duration(0); registry != "" && running.Err() == nil; {
			// A call that has begun is not cut off: a lease that was just granted could not be given back.
			pause, err := made.step(context.WithoutCancel(running))
			if backoff = min(2*backoff+250*time.Millisecond, 4*time.Second); err == nil {
				backoff = 0
			} else if running.Err() == nil {
				slog.Warn("not registered", "code", status.Code(err).String(), "event", "not registered")
			}
			wait := time.Duration(float64(pause+backoff) * (1 + 0.2*mathrand.Float64()))
			select {
			case <-running.Done():
			case <-time.After(wait):
			}
		}
	}()
	return made
}

// step registers, or renews the lease that there is, and gives the time until the next step.
func (one *lease) step(running context.Context) (pause time.Duration, err error) {
	err = one.call(running, 6*time.Second, func(ctx context.Context, registry pb.RegistryServiceClient) error {
		if one.id == "" {
			answer, err := registry.Register(ctx, one.request)
			if err == nil {
				one.id, pause = answer.LeaseId, answer.RenewAfter.AsDuration()
				slog.Info("registered", "event", "registered", "instance_id", one.request.InstanceId)
			}
			return err
		}
		answer, err := registry.RenewLease(ctx, &pb.RenewLeaseRequest{LeaseId: one.id})
		if status.Code(err) == codes.NotFound {
			one.id, err = "", nil
		}
		pause = answer.GetRenewAfter().AsDuration()
		return err
	})
	return pause, err
}

// call dials for every call: three a minute, and always with the newest certificates.
func (one *lease) call(
	running context.Context, timeout time.Duration, do func(context.Context, pb.RegistryServiceClient) error,
) error {
	ctx, cancel := context.WithTimeout(running, timeout)
	defer cancel()
	connection, err := grpc.NewClient(one.registry, grpc.WithTransportCredentials(one.secured()))
	if err != nil {
		return err
	}
	defer connection.Close()
	return do(ctx, pb.NewRegistryServiceClient(connection))
}

// end gives the lease back. A registry that cannot be reached is no error: the lease ends by itself.
func (one *lease) end() {
	one.stop()
	<-one.ended
	if one.id != "" {
		_ = one.call(context.Background(), 2*time.Second, func(ctx context.Context, registry pb.RegistryServiceClient) error {
			_, err := registry.Deregister(ctx, &pb.DeregisterRequest{LeaseId: one.id})
			return err
		})
	}
}
