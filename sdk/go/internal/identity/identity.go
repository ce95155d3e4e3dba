// Package identity reads who a process is from its certificate.
package identity

import (
	"crypto/tls"
	"crypto/x509"
)

// TrustDomain returns the trust domain of a certificate, spiffe://DOMAIN/ROLE/NAME; "slipway" where it has no such name.
// Servers of the same domain carry the DNS names of their roles, registry.DOMAIN and bootstrapper.DOMAIN.
func TrustDomain(certificates ...tls.Certificate) string {
	for _, pair := range certificates {
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			continue
		}
		for _, id := range leaf.URIs {
			if id.Scheme == "spiffe" {
				return id.Host
			}
		}
	}
	return "slipway"
}
