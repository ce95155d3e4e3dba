package preflight

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"
)

const (
	mostBytes  = 1 << 20
	publishing = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
)

func network(ctx context.Context, wishes Wishes) []Outcome {
	const none = "no endpoint was given"
	if wishes.Endpoint == "" {
		return []Outcome{skipped("proxy", none), skipped("dns", none), skipped("tcp", none), skipped("tls", none)}
	}
	target := &url.URL{Scheme: "https", Host: wishes.Endpoint}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: target})
	if err != nil {
		return []Outcome{bad("proxy", ProxyUnreachable, "the proxy of the environment is no URL")}
	}
	results := []Outcome{good("proxy")}
	if proxy != nil {
		if _, reason := reach(ctx, proxyAddress(proxy), wishes.Timeout); reason != "" {
			return []Outcome{bad("proxy", ProxyUnreachable, "nothing answers at the proxy "+proxy.Hostname())}
		}
		const by = "the proxy does it"
		results[0] = warn("proxy", ProxyWithoutExceptions, "requests to the endpoint go to a proxy: it is not in NO_PROXY")
		results = append(results, skipped("dns", by), skipped("tcp", by))
		return append(results, speak(ctx, wishes, target, proxy))
	}
	check, reason := reach(ctx, wishes.Endpoint, wishes.Timeout)
	switch {
	case reason == "":
		results = append(results, good("dns"), good("tcp"))
	case check == "dns":
		const unresolved = "the name of the endpoint does not resolve"
		return append(results, bad("dns", reason, unresolved), skipped("tcp", unresolved), skipped("tls", unresolved))
	default:
		const unreached = "the endpoint is not reached"
		return append(results, good("dns"), bad("tcp", reason, unreached), skipped("tls", unreached))
	}
	return append(results, speak(ctx, wishes, target, nil))
}

func proxyAddress(proxy *url.URL) string {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[proxy.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(proxy.Hostname(), port)
}

// reach opens a connection; it gives the check that failed, and its reason.
func reach(ctx context.Context, address string, limit time.Duration) (check string, reason Reason) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "dns", EndpointNameNotResolved
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if _, err := net.DefaultResolver.LookupHost(ctx, host); err != nil {
		return "dns", EndpointNameNotResolved
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	switch {
	case err == nil:
		_ = connection.Close()
		return "tcp", ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return "tcp", EndpointRefused
	}
	return "tcp", EndpointUnreachable
}

// speak asks the API server for anything; whatever it answers, its certificate was right.
func speak(ctx context.Context, wishes Wishes, target, proxy *url.URL) Outcome {
	const check = "tls"
	authorities, wrong := trusted(ctx, wishes, target, proxy)
	if wrong != nil {
		return *wrong
	}
	pool := x509.NewCertPool()
	for _, authority := range authorities {
		pool.AddCert(authority)
	}
	_, _, err := get(ctx, wishes.Timeout, target, proxy, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, "/livez")
	if err == nil {
		return good(check)
	}
	reason, message := tlsReason(err)
	return bad(check, reason, message)
}

// trusted gives the pinned authorities: those of the file, else those that the cluster publishes.
func trusted(ctx context.Context, wishes Wishes, target, proxy *url.URL) ([]*x509.Certificate, *Outcome) {
	const check = "tls"
	var authorities []*x509.Certificate
	var err error
	if wishes.CAFile != "" {
		authorities, err = readAuthorities(wishes.CAFile)
		if err != nil {
			outcome := bad(check, CertificateMissing, "the file of the CA cannot be read as PEM certificates")
			return nil, &outcome
		}
	} else {
		// As in kubeadm: what answers is read without trust, and counts only where a pinned hash says so.
		blind := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec
		status, text, err := get(ctx, wishes.Timeout, target, proxy, blind, publishing)
		if err != nil {
			reason, message := tlsReason(err)
			outcome := bad(check, reason, message)
			return nil, &outcome
		}
		authorities, err = publishedAuthorities(text)
		if status != http.StatusOK || err != nil {
			outcome := bad(check, ClusterInfoMissing, "the cluster does not publish its CA")
			return nil, &outcome
		}
	}
	authorities = pinned(authorities, wishes.CAHashes)
	if len(authorities) == 0 {
		outcome := bad(check, CaHashMismatch, "no CA certificate has a pinned hash")
		return nil, &outcome
	}
	return authorities, nil
}

func get(
	ctx context.Context, limit time.Duration, target, proxy *url.URL, config *tls.Config, path string,
) (status int, text []byte, err error) {
	client := http.Client{
		Timeout:       limit,
		Transport:     &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: config, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.JoinPath(path).String(), nil)
	if err != nil {
		return 0, nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(io.LimitReader(answer.Body, mostBytes))
	return answer.StatusCode, text, err
}

func tlsReason(err error) (reason Reason, message string) {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return CertificateNotYetValid, "a certificate of the API server is not valid yet"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return CertificateNotValidNow, "a certificate of the API server has expired"
	case errors.As(err, &name):
		return CertificateNameMismatch, "the API server's certificate does not name the endpoint"
	case errors.As(err, &authority), errors.As(err, &invalid):
		return CertificateUntrusted, "the API server's certificate is not of the pinned CA"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return EndpointWithoutTLS, "what answers at the endpoint does not speak TLS"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return EndpointUnreachable, "the endpoint does not answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return EndpointRefused, "the endpoint refuses connections"
	}
	return EndpointUnreachable, "the endpoint ends the connection"
}
