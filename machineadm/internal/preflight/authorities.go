package preflight

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"regexp"
	"strings"
)

func readAuthorities(path string) ([]*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseAuthorities(text)
}

func parseAuthorities(text []byte) ([]*x509.Certificate, error) {
	var result []*x509.Certificate
	for {
		var block *pem.Block
		block, text = pem.Decode(text)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		result = append(result, certificate)
	}
	if len(result) == 0 {
		return nil, errors.New("no certificate")
	}
	return result, nil
}

// pinned gives the authorities whose public key has one of the hashes; all of them where there are no hashes.
func pinned(authorities []*x509.Certificate, hashes []string) []*x509.Certificate {
	if len(hashes) == 0 {
		return authorities
	}
	var result []*x509.Certificate
	for _, authority := range authorities {
		sum := sha256.Sum256(authority.RawSubjectPublicKeyInfo)
		for _, hash := range hashes {
			if strings.EqualFold(hash, "sha256:"+hex.EncodeToString(sum[:])) {
				result = append(result, authority)
				break
			}
		}
	}
	return result
}

var embedded = regexp.MustCompile(`(?m)certificate-authority-data:[ \t]*["']?([A-Za-z0-9+/=]+)`)

// publishedAuthorities reads the CA out of the ConfigMap that a cluster publishes for machines that join. Nothing of it
// is trusted but what has a pinned hash.
func publishedAuthorities(configMap []byte) ([]*x509.Certificate, error) {
	var document struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(configMap, &document); err != nil {
		return nil, errors.New("no ConfigMap")
	}
	match := embedded.FindStringSubmatch(document.Data["kubeconfig"])
	if match == nil {
		return nil, errors.New("no CA")
	}
	text, err := base64.StdEncoding.DecodeString(match[1])
	if err != nil {
		return nil, errors.New("no CA")
	}
	return parseAuthorities(text)
}
