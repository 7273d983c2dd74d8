// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// A refusal that names a value which the chart does not have would send an administrator the wrong way. That the chart
// passes the value on as the flag is tested in test/install.
func TestRefusalsNameValuesThatTheChartHas(t *testing.T) {
	text, err := os.ReadFile("../../charts/nexus-operator/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	if err := yaml.UnmarshalStrict(text, &values); err != nil {
		t.Fatal(err)
	}
	p := &Directory{Guards: Guards{AmbientNamespaces: []string{"ops"}, CapabilityNamespaces: []string{"ops"}}}
	provider := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a"}}
	named := regexp.MustCompile(`(--[a-z-]+)=([^ ]+|<policy ARN>) \(value ([A-Za-z.]+) of the Helm chart\)`)
	for _, c := range []struct {
		err  error
		want [][]string
	}{
		{p.ambientRefused(provider), [][]string{{"--ambient-namespaces", "ops,team-a", "tenants.ambientNamespaces"}}},
		{p.generatedRefused(provider), [][]string{{"--capability-namespaces", "ops,team-a", "tenants.capabilityNamespaces"},
			{"--default-permissions-boundary", "<policy ARN>", "tenants.defaultPermissionsBoundary"}}},
		{errors.New(FlagAllowing("--workload-namespaces", []string{"ops"}, "team-a")),
			[][]string{{"--workload-namespaces", "ops,team-a", "tenants.workloadNamespaces"}}},
	} {
		var got [][]string
		for _, m := range named.FindAllStringSubmatch(c.err.Error(), -1) {
			got = append(got, m[1:])
			if !hasValue(values, m[3]) {
				t.Errorf("the chart has no value %s: %v", m[3], c.err)
			}
		}
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("got %q, want %q: %v", got, c.want, c.err)
		}
	}
}

func hasValue(values map[string]any, path string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(values, strings.Split(path, ".")...)
	return found && err == nil
}
