// SPDX-License-Identifier: Apache-2.0

// Package enginecrds holds definitions of the policy engines' kinds, and of others that a cluster need not have. With them a control plane
// without any engine accepts, refuses, drops and defaults our objects as it would with the original definitions. They are written for this
// project and hold no more than our engines need.
package enginecrds

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds/definitions"
)

// The engines that have definitions here.
const (
	KubeArmor = "kubearmor"
	Kyverno   = "kyverno"
	// KyvernoNext is a Kyverno that serves its newer kinds only.
	KyvernoNext = "kyverno-next"
	// KyvernoCEL is a Kyverno that serves all of its policies in CEL, and those only.
	KyvernoCEL  = "kyverno-cel"
	Istio       = "istio"
	Cilium      = "cilium"
	EKSAutoMode = "eksautomode"
)

// Other kinds that a control plane may lack.
const (
	// GatewayAPI has Gateways and their routes, AWSLoadBalancer the additions of AWS's load balancers to these and to IngressClasses.
	GatewayAPI      = "gatewayapi"
	AWSLoadBalancer = "awsloadbalancer"
	// OtherPolicies has the policies of other engines over all namespaces, which the operator only reads.
	OtherPolicies = "otherpolicies"
)

// Engines are all policy engines.
func Engines() []string {
	return []string{KubeArmor, Kyverno, KyvernoNext, KyvernoCEL, Istio, Cilium, EKSAutoMode}
}

// Definitions are the CustomResourceDefinitions of an engine, each time anew.
func Definitions(tb testing.TB, engine string) []*unstructured.Unstructured {
	tb.Helper()
	text, err := definitions.Files.ReadFile(engine + ".yaml")
	if err != nil {
		tb.Fatalf("no definitions of %s: %v", engine, err)
	}
	var out []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			tb.Fatalf("%s.yaml: %v", engine, err)
		}
		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}
}
