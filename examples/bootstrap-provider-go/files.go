package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	bootstrapv1 "github.com/k3s-io/cluster-api-k3s/bootstrap/api/v1beta2"
	"github.com/k3s-io/cluster-api-k3s/pkg/etcd"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

// expression is Jinja: cloud-init renders it on the machine, since the provider's user data begins with "## template".
var expression = regexp.MustCompile(`\{\{-? *([a-z0-9_.]+) *-?\}\}`)

// facts are the expressions that each first-boot system can fill in.
var facts = map[string]pb.FactKind{
	"ds.meta_data.hostname":       pb.FactKind_FACT_KIND_HOSTNAME,
	"ds.meta_data.local_hostname": pb.FactKind_FACT_KIND_LOCAL_HOSTNAME,
	"ds.meta_data.instance_id":    pb.FactKind_FACT_KIND_INSTANCE_ID,
	"v1.local_hostname":           pb.FactKind_FACT_KIND_SHORT_HOSTNAME,
}

// files are the user's own.
func (p *plan) files() error {
	for index, file := range p.world.config.Spec.Files {
		place := fmt.Sprintf("spec.files[%d]", index)
		segments, err := p.content(place, file)
		if err != nil {
			return err
		}
		mode := uint64(0o644)
		if file.Permissions != "" {
			if mode, err = strconv.ParseUint(file.Permissions, 8, 12); err != nil {
				return invalid(place+".permissions", "must be octal")
			}
		}
		added := p.file(place, file.Path, uint32(mode), segments...)
		if file.Owner != "" {
			owner, group, _ := strings.Cut(file.Owner, ":")
			added.Owner = &owner
			if group != "" {
				added.Group = &group
			}
		}
	}
	return nil
}

func (p *plan) content(place string, file bootstrapv1.File) ([]*pb.Segment, error) {
	if file.ContentFrom == nil {
		if file.Encoding == "" {
			return p.segments(place+".content", file.Content)
		}
		data, err := decode(place, file.Encoding, []byte(file.Content))
		return []*pb.Segment{{Value: &pb.Segment_Data{Data: data}}}, err
	}
	source := file.ContentFrom.Secret
	if file.Encoding == "" {
		reference, err := p.secret(source.Name, source.Key)
		return []*pb.Segment{reference}, err
	}
	value, err := p.world.value(source.Name, source.Key)
	if err != nil {
		return nil, err
	}
	// What the machine is to hold is another value than the Secret's: it gets a name of its own, and is sent in its place.
	data, err := decode(place, file.Encoding, value)
	name := fmt.Sprintf("decoded-file-%s", strings.Trim(strings.TrimPrefix(place, "spec.files"), "[]"))
	return []*pb.Segment{p.add(name, "value", data)}, err
}

// decode gives the bytes that cloud-init would write.
func decode(place string, encoding bootstrapv1.Encoding, data []byte) ([]byte, error) {
	if encoding == bootstrapv1.Gzip {
		return nil, invalid(place+".encoding", "gzip is binary, which no manifest can hold; use gzip+base64")
	}
	decoded, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(data)))
	if err != nil {
		return nil, invalid(place+".content", "must be base64")
	}
	if encoding == bootstrapv1.Base64 {
		return decoded, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(decoded))
	if err != nil {
		return nil, invalid(place+".content", "must be gzip in base64")
	}
	inflated, err := io.ReadAll(io.LimitReader(reader, 1<<20))
	if err != nil {
		return nil, invalid(place+".content", "must be gzip in base64")
	}
	return inflated, nil
}

// segments splits text at what only the machine knows.
func (p *plan) segments(place, text string) ([]*pb.Segment, error) {
	var segments []*pb.Segment
	rest := text
	for {
		at := expression.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		kind, known := facts[rest[at[2]:at[3]]]
		if !known {
			return nil, invalid(place, "holds a template expression that not every system can fill in")
		}
		if at[0] > 0 {
			segments = append(segments, literal(rest[:at[0]]))
		}
		segments = append(segments, &pb.Segment{Value: &pb.Segment_Fact{Fact: &pb.MachineFact{Kind: &kind}}})
		rest = rest[at[1]:]
	}
	for _, mark := range []string{"{{", "{%", "{#"} {
		if strings.Contains(rest, mark) {
			return nil, invalid(place, "holds a template expression that not every system can fill in")
		}
	}
	if rest != "" {
		segments = append(segments, literal(rest))
	}
	return segments, nil
}

// ownFile adds a file that the provider writes: its path and its parts are in no field of the user's, so that a refusal
// names the part of the config that it is made of and the file, or the Secret.
func (p *plan) ownFile(place, path string, mode uint32, segments ...*pb.Segment) {
	field := fmt.Sprintf("spec.os.files[%d]", len(p.request.Spec.Os.Files))
	name := fmt.Sprintf("%s (file %s)", place, path)
	p.file(name, path, mode, segments...)
	for _, part := range []string{".path", ".mode", ".content"} {
		p.names[field+part] = name
	}
	for index, segment := range segments {
		part := fmt.Sprintf("%s.content.segments[%d]", field, index)
		p.names[part] = name
		if reference := segment.GetSecretRef(); reference != nil {
			p.names[part] = secretName(reference.GetName(), reference.GetKey())
		}
	}
}

// file adds a file to the request, and remembers which field it is for.
func (p *plan) file(place, path string, mode uint32, segments ...*pb.Segment) *pb.File {
	system := p.request.Spec.Os
	p.names[fmt.Sprintf("spec.os.files[%d]", len(system.Files))] = place
	file := &pb.File{Path: &path, Mode: &mode, Content: &pb.Content{Segments: segments}}
	system.Files = append(system.Files, file)
	return file
}

// secret gives a reference to a value of a Secret, and puts the value where secrets are.
func (p *plan) secret(name, key string) (*pb.Segment, error) {
	value, err := p.world.value(name, key)
	if err != nil {
		return nil, err
	}
	return p.add(name, key, value), nil
}

// value gives what a Secret holds.
func (w *world) value(name, key string) ([]byte, error) {
	value, ok := w.secrets[name][key]
	if !ok {
		return nil, fmt.Errorf("the Secret %s has no key %s", name, key)
	}
	return value, nil
}

func (p *plan) add(name, key string, value []byte) *pb.Segment {
	if !p.given[name+"/"+key] {
		p.given[name+"/"+key] = true
		place := fmt.Sprintf("secrets.secrets[%d]", len(p.request.Secrets.Secrets))
		p.names[place] = secretName(name, key)
		p.request.Secrets.Secrets = append(p.request.Secrets.Secrets, &pb.Secret{Name: name, Key: key, Value: value})
	}
	return &pb.Segment{Value: &pb.Segment_SecretRef{SecretRef: &pb.SecretReference{Name: &name, Key: &key}}}
}

func secretName(name, key string) string { return fmt.Sprintf("Secret %s: data[%s]", name, key) }

// etcdProxyManifest fills in the provider's own template.
func etcdProxyManifest(server bootstrapv1.KThreesServerConfig) (*pb.Segment, error) {
	parsed, err := template.New("etcd-proxy").Parse(etcd.EtcdProxyDaemonsetYamlTemplate)
	if err != nil {
		return nil, err
	}
	registry := server.SystemDefaultRegistry
	if registry != "" {
		registry += "/"
	}
	var manifest strings.Builder
	err = parsed.Execute(&manifest, map[string]string{
		"EtcdProxyImage": server.EtcdProxyImage, "SystemDefaultRegistry": registry,
	})
	return literal(manifest.String()), err
}
