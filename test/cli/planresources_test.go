// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// serveTypes emulates the resource types of AWS, by their schemas.
func (x *tool) serveTypes() {
	x.Helper()
	types, err := awstypes.Bundled()
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() { _ = types.Close() })
	x.World.AWS().Divert("cloudformation", cloudcontrol.New(x.World.AWS().Account(), types, time.Now))
}

// A plan shows the resources of a capability as its other objects, and nothing once they are there.
func TestPlan_ShowsTheResourcesOfACapability(t *testing.T) {
	extent.Full(t)
	const flag, namespaces = "--types=AWS::S3Vectors::*", "--ambient-namespaces=team-*,retrieval-dev"
	x := newTool(t, flag, namespaces, "--check-interval=1h")
	x.serveTypes()
	x.MakeNamespace(operator.Namespace)
	selector, template := operatorPod(flag, namespaces)
	x.installed(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator", Namespace: operator.Namespace},
		Spec: appsv1.DeploymentSpec{Selector: &selector, Template: template}})
	c := x.Capability("examples/capability-with-vectors.yaml")
	team := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: c.Namespace},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1", Types: []v1alpha1.TypePattern{"AWS::S3Vectors::*"}}}
	x.Create(team)
	x.Ready(team)
	args := []string{"-f", "-", "--operator-namespace", operator.Namespace}
	declared := func() string {
		return x.manifest(&nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace}, Spec: c.Spec})
	}
	items := x.plan(declared(), args...)
	for _, name := range []string{"retrieval-dev-vectors", "retrieval-dev-passages"} {
		if i := slices.IndexFunc(items, func(it item) bool { return it.Name == name && it.Kind == "AWSResource" }); i < 0 ||
			items[i].Problem != nil || items[i].Action != "Create" {
			t.Errorf("the plan does not create %s: %+v", name, items)
		}
	}
	x.apply(declared())
	x.Running(c)
	x.unchanged(declared(), args...)

	c.Spec.DataServices.Resources = c.Spec.DataServices.Resources[:1] // without the index
	items = x.plan(declared(), args...)
	i := slices.IndexFunc(items, func(it item) bool { return it.Name == "retrieval-dev-passages" && it.Kind == "AWSResource" })
	if i < 0 || items[i].Action != "Delete" || !strings.Contains(items[i].Waits, wellknown.AnnotationDeleteData) {
		t.Errorf("the plan does not show that the index is deleted, and needs consent to that: %+v", items)
	}
}
