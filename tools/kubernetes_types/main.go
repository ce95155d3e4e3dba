// Command kubernetes-types reads Kubernetes' own types, by reflection and by their strict decoder.
//
//	schema   writes the fields of every kind as JSON
//	strict   reads {"kind", "document"} objects, and writes for each whether the strict decoder accepts the document
package main

import (
	"encoding/json"
	"io"
	"os"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	proxyv1alpha1 "k8s.io/kube-proxy/config/v1alpha1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Kinds that are not registered with the API server's own scheme.
var kinds = map[string]any{
	"kubelet.config.k8s.io/v1beta1 KubeletConfiguration":      kubeletv1beta1.KubeletConfiguration{},
	"kubeproxy.config.k8s.io/v1alpha1 KubeProxyConfiguration": proxyv1alpha1.KubeProxyConfiguration{},
	"v1 Pod":    corev1.Pod{},
	"v1 Config": clientcmdv1.Config{},
}

var wanted = map[string]bool{
	"AdmissionConfiguration": true, "AuthenticationConfiguration": true, "AuthorizationConfiguration": true,
	"EgressSelectorConfiguration": true, "EncryptionConfiguration": true, "TracingConfiguration": true,
}

func init() {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	for kind, kindType := range scheme.AllKnownTypes() {
		if wanted[kind.Kind] && kind.Version != runtime.APIVersionInternal {
			kinds[kind.GroupVersion().String()+" "+kind.Kind] = reflect.New(kindType).Elem().Interface()
		}
	}
	kinds["audit.k8s.io/v1 Policy"] = auditv1.Policy{}
}

var scalars = map[reflect.Type]string{
	reflect.TypeOf(metav1.Duration{}):        "duration",
	reflect.TypeOf(metav1.Time{}):            "time",
	reflect.TypeOf(metav1.MicroTime{}):       "time",
	reflect.TypeOf(resource.Quantity{}):      "quantity",
	reflect.TypeOf(resource.QuantityValue{}): "quantity",
	reflect.TypeOf(intstr.IntOrString{}):     "intOrString",
	reflect.TypeOf(runtime.RawExtension{}):   "any",
	reflect.TypeOf(runtime.Unknown{}):        "any",
	reflect.TypeOf(metav1.FieldsV1{}):        "any",
}

type schema struct {
	Kinds map[string]string            `json:"kinds"`
	Types map[string]map[string]string `json:"types"`
}

func (s *schema) name(t reflect.Type) string {
	if word, ok := scalars[t]; ok {
		return word
	}
	if t.Name() == "TimeOrMetaDuration" { // Of component-base's logging, which has a decoder of its own.
		return "durationOrInt"
	}
	switch t.Kind() {
	case reflect.Pointer:
		if word := s.name(t.Elem()); word == "duration" {
			return "*duration" // The only type whose decoder does not accept null.
		} else {
			return word
		}
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Int16, reflect.Int8:
		return t.Kind().String()
	case reflect.Float32, reflect.Float64:
		return "float"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + s.name(t.Elem())
	case reflect.Map:
		return "{}" + s.name(t.Elem())
	case reflect.Interface:
		return "any"
	case reflect.Struct:
		id := t.PkgPath()[strings.LastIndex(t.PkgPath(), "apis/")+1:] + "." + t.Name()
		id = strings.TrimPrefix(strings.TrimPrefix(id, "pis/"), "8s.io/")
		if _, done := s.Types[id]; !done {
			s.Types[id] = map[string]string{}
			s.fields(t, s.Types[id])
		}
		return "#" + id
	}
	panic(t.String())
}

func (s *schema) fields(t reflect.Type, into map[string]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		inline := strings.Contains(options, "inline") || (field.Anonymous && name == "")
		if inline {
			s.fields(field.Type, into)
			continue
		}
		if name == "" {
			name = field.Name
		}
		into[name] = s.name(field.Type)
	}
}

func accepts(kind string, document string) bool {
	target := reflect.New(reflect.TypeOf(kinds[kind])).Interface()
	converted, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return false
	}
	strict, err := kjson.UnmarshalStrict(converted, target)
	return err == nil && len(strict) == 0
}

func main() {
	encoder := json.NewEncoder(os.Stdout)
	if os.Args[1] == "schema" {
		result := schema{Kinds: map[string]string{}, Types: map[string]map[string]string{}}
		for kind, value := range kinds {
			result.Kinds[kind] = strings.TrimPrefix(result.name(reflect.TypeOf(value)), "#")
		}
		if err := encoder.Encode(result); err != nil {
			panic(err)
		}
		return
	}
	decoder := json.NewDecoder(os.Stdin)
	for {
		var question struct{ Kind, Document string }
		if err := decoder.Decode(&question); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		if err := encoder.Encode(accepts(question.Kind, question.Document)); err != nil {
			panic(err)
		}
	}
}
