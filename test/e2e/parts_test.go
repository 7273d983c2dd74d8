// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The operator may manage the types of the example, and lends its identity to the provider of its namespace.
const vectorTypes, vectorNamespaces = "--types=AWS::S3Vectors::*", "--ambient-namespaces=team-*,retrieval-dev"

// withVectors reads the example of a capability with resources of any type, and creates the provider of its namespace.
func (b *bed) withVectors() *nexusv1.NexusAICapability {
	b.Helper()
	c := b.Capability("examples/capability-with-vectors.yaml")
	team := provider("team")
	team.Namespace, team.Spec.Types = c.Namespace, []v1alpha1.TypePattern{"AWS::S3Vectors::*"}
	b.Create(team)
	b.Ready(team)
	return c
}

// The example with resources runs with exported values, a second pass writes nothing, and it goes without residue.
func TestResources_OfACapabilityRunAndGoWithoutResidue(t *testing.T) {
	extent.Full(t)
	b := newBed(t, vectorTypes, vectorNamespaces)
	d := b.controls()
	c := b.withVectors()
	b.Create(c)
	b.Running(c)
	vectors := &v1alpha1.AWSResource{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "retrieval-dev-vectors"}}
	if err := b.Get(vectors); err != nil || vectors.Status.ARN == "" {
		t.Errorf("%+v: %v", vectors.Status, err)
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace,
		Name: strings.TrimSuffix(workload(c, "backend").Role, "role") + "config"}}
	if err := b.Get(settings); err != nil || settings.Data["VECTOR_BUCKET"] != "retrieval-dev-vectors" {
		t.Errorf("the settings %v: %v", settings.Data, err)
	}
	if !slices.ContainsFunc(c.Status.Resources,
		func(r nexusv1.ResourceStatus) bool { return r.Name == vectors.Name && r.ARN == vectors.Status.ARN }) {
		t.Errorf("status.resources lacks %s: %+v", vectors.Name, c.Status.Resources)
	}
	b.Quiet()
	calls, kube := b.Mark()
	b.Restart(vectorTypes, vectorNamespaces)
	b.Passed("nexusaicapability", "awsresource")
	if writes := b.World.AWS().Since(calls).Writes(); writes.Count() > 0 {
		t.Errorf("a second pass writes to AWS:\n%s", writes)
	}
	for _, w := range b.KubeWrites(kube) {
		t.Errorf("a second pass writes to Kubernetes: %s", w)
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	for _, typeName := range []string{"AWS::S3Vectors::VectorBucket", "AWS::S3Vectors::Index"} {
		if left := d.Identifiers(typeName); len(left) > 0 {
			t.Errorf("%s: %v is left", typeName, left)
		}
	}
}

// Under the rules of IAM, the pods whose access names a resource can use it with the declared actions. Other
// actions, other resources and other pods are denied.
func TestPrivilege_ResourcesAreReachedByTheirActions(t *testing.T) {
	extent.Full(t)
	everything := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	b := &bed{kit.Limited(t, []string{everything}, vectorTypes, vectorNamespaces)}
	b.controls()
	c := b.withVectors()
	c.Spec.DataServices.Resources = append(c.Spec.DataServices.Resources,
		nexusv1.ResourcePart{Name: "images", Kind: "ECRRepository", Spec: &runtime.RawExtension{Raw: []byte(`{"repositoryName":"{name}"}`)},
			Access: &nexusv1.PartAccess{Actions: []nexusv1.PartAction{"ecr:DescribeImages"}}},
		nexusv1.ResourcePart{Name: "others", Kind: "ECRRepository", Spec: &runtime.RawExtension{Raw: []byte(`{"repositoryName":"{name}"}`)}})
	c.Spec.Components = []nexusv1.NamedComponentSpec{{Name: "builder", Type: nexusv1.ComponentWorker,
		ComponentSpec: nexusv1.ComponentSpec{Image: c.Spec.Backend.Image, Access: &[]nexusv1.AccessName{"resources/images"}}}}
	b.Create(c)
	b.Running(c)
	vectors := &v1alpha1.AWSResource{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "retrieval-dev-vectors"}}
	if err := b.Get(vectors); err != nil {
		t.Fatal(err)
	}
	describes := func(a *app, name string) error {
		return failed(ecr.NewFromConfig(a.cfg).DescribeImages(a.Ctx(), &ecr.DescribeImagesInput{RepositoryName: aws.String(name)}))
	}
	for component, want := range map[string]struct{ images, vectors bool }{"builder": {images: true}, "backend": {vectors: true},
		"frontend": {}} {
		a := b.applicationOf(c, workload(c, component).ServiceAccount)
		if err := describes(a, "retrieval-dev-images"); want.images != (err == nil) || !want.images && !awsclient.Is(err, awsclient.Denied) {
			t.Errorf("%s describes the images: %v", component, err)
		}
		if err := describes(a, "retrieval-dev-others"); !awsclient.Is(err, awsclient.Denied) {
			t.Errorf("%s describes the images of a resource without access: %v", component, err)
		}
		if err := failed(ecr.NewFromConfig(a.cfg).ListImages(a.Ctx(),
			&ecr.ListImagesInput{RepositoryName: aws.String("retrieval-dev-images")})); !awsclient.Is(err, awsclient.Denied) {
			t.Errorf("%s lists the images, which is no declared action: %v", component, err)
		}
		credentials, err := a.cfg.Credentials.Retrieve(a.Ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			action, resource string
			may              bool
		}{
			{"s3vectors:QueryVectors", vectors.Status.ARN + "/index/passages", want.vectors},
			{"s3vectors:PutVectors", vectors.Status.ARN + "/index/passages", want.vectors},
			{"s3vectors:DeleteVectors", vectors.Status.ARN + "/index/passages", false},
			{"s3vectors:QueryVectors", vectors.Status.ARN + "-of-others/index/passages", false},
			{"s3vectors:DeleteVectorBucket", vectors.Status.ARN, false},
		} {
			refusal, err := b.World.AWS().Refuses(b.Ctx(), credentials.AccessKeyID, tc.action, tc.resource, nil, nil)
			if err != nil || tc.may != (refusal == "") {
				t.Errorf("%s: %s on %s: %q, %v", component, tc.action, tc.resource, refusal, err)
			}
		}
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}
