package provisioner

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	pb "slipway.dev/sdk/slipway/v1alpha1"
)

// Secret gives the bytes that a reference stands for; path is that of the reference. Nil, and the call fails, where there
// is no such secret.
func (r *Rendering) Secret(reference *pb.SecretReference, path string) []byte {
	for _, one := range r.Bundle.GetSecrets().GetSecrets() {
		if one.Name == reference.GetName() && one.Key == reference.GetKey() {
			return one.Value
		}
	}
	r.Invalid(path, "refers to a secret that is not in secrets")
	return nil
}

// Content joins the segments of a content: literals as they are, secrets as their encoding says.
func (r *Rendering) Content(content *pb.Content, path string) []byte {
	var joined bytes.Buffer
	for index, part := range content.GetSegments() {
		where := fmt.Sprintf("%s.segments[%d]", path, index)
		if data, literal := part.GetValue().(*pb.Segment_Data); literal {
			joined.Write(data.Data)
			continue
		}
		if part.GetSecretRef() == nil {
			r.Invalid(where, "must be data or secret_ref")
			continue
		}
		value := r.Secret(part.GetSecretRef(), where+".secret_ref")
		switch part.GetEncoding() {
		case pb.SpliceEncoding_SPLICE_ENCODING_UNSPECIFIED, pb.SpliceEncoding_SPLICE_ENCODING_RAW:
			joined.Write(value)
		case pb.SpliceEncoding_SPLICE_ENCODING_BASE64:
			joined.WriteString(base64.StdEncoding.EncodeToString(value))
		case pb.SpliceEncoding_SPLICE_ENCODING_JSON_STRING:
			if !utf8.Valid(value) {
				r.Invalid(where, "is to be a JSON string, and the secret is not UTF-8")
			}
			joined.Write(jsonString(string(value)))
		default:
			r.Invalid(where+".encoding", "is not a known encoding")
		}
	}
	return joined.Bytes()
}

// jsonString writes JSON that is also a YAML double-quoted scalar: what YAML does not take raw is escaped.
func jsonString(text string) []byte {
	var plain, escaped bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can always be written
	for _, one := range string(bytes.TrimSuffix(plain.Bytes(), []byte("\n"))) {
		if one >= 0x7F && one <= 0x9F || one == 0xFEFF || one == 0xFFFE || one == 0xFFFF {
			fmt.Fprintf(&escaped, `\u%04x`, one)
		} else {
			escaped.WriteRune(one)
		}
	}
	return escaped.Bytes()
}
