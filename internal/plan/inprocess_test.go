// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func inProcess(t *testing.T) InProcess {
	t.Helper()
	scheme := runtime.NewScheme()
	schemas, err := crdschema.Load(crd.Bases)
	if err := errors.Join(err, v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return InProcess{Scheme: scheme, Schemas: schemas, Clock: testingclock.NewFakePassiveClock(time.Unix(1000, 0))}
}

const bucketKind = "{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: S3Bucket, "

func value(u *unstructured.Unstructured, fields ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(u.Object, fields...)
	return v
}

func TestAdmit_BelievesNoRecordOfTheOperatorInAManifest(t *testing.T) {
	forged := parse(t, bucketKind+"metadata: {name: a, namespace: ns, uid: forged, generation: 7, finalizers: [x], ownerReferences: [{kind: NexusAICapability, name: c, uid: u, controller: true}], "+
		"labels: {team: a}, annotations: {nexus.ai/home: aws/1/eu-west-1, nexus.ai/owner: NexusAICapability/ns/c, nexus.ai/paused: 'true', nexus.ai/delete-data: a-bucket, note: mine}}, "+
		"spec: {providerRef: {name: aws}, bucketName: team-logs}, status: {id: victim, arn: 'arn:aws:s3:::victim'}}")
	after, err := inProcess(t).Admit(t.Context(), nil, forged)
	if err != nil {
		t.Fatal(err)
	}
	if a := after.GetAnnotations(); len(a) != 3 || a["nexus.ai/delete-data"] != "a-bucket" || a["note"] != "mine" || a["nexus.ai/paused"] != "true" {
		t.Errorf("annotations %v", a)
	}
	if after.GetUID() == "forged" || !isFuture(after.GetUID()) || after.GetGeneration() != 1 || after.GetFinalizers() != nil || after.GetOwnerReferences() != nil || after.Object["status"] != nil || after.GetLabels()["team"] != "a" {
		t.Errorf("%v", after.Object)
	}

	live := parse(t, bucketKind+"metadata: {name: a, namespace: ns, uid: real, generation: 3, annotations: {nexus.ai/home: aws/2/eu-west-1, by: others}}, "+
		"spec: {providerRef: {name: aws}, bucketName: team-logs, tags: {kept: 'yes'}}, status: {id: team-logs}}")
	live.SetGeneration(3) // YAML has floats
	after, err = inProcess(t).Admit(t.Context(), live, forged)
	if err != nil {
		t.Fatal(err)
	}
	if a := after.GetAnnotations(); a["nexus.ai/home"] != "aws/2/eu-west-1" || a["nexus.ai/owner"] != "" || a["by"] != "others" {
		t.Errorf("annotations %v", a)
	}
	if after.GetUID() != "real" || after.GetOwnerReferences() != nil || value(after, "status", "id") != "team-logs" || value(after, "spec", "tags", "kept") != "yes" {
		t.Errorf("%v", after.Object)
	}
}

func TestAdmit_MergesAsKubectlDoes(t *testing.T) {
	record := `{"metadata":{"name":"a"},"spec":{"providerRef":{"name":"aws"},"bucketName":"team-logs","tags":{"gone":"1","stays":"1"}}}`
	live := parse(t, bucketKind+"metadata: {name: a, namespace: ns, uid: real, generation: 3}, spec: {providerRef: {name: aws}, bucketName: team-logs, tags: {gone: '1', stays: '1', others: '1'}}}")
	live.SetGeneration(3) // YAML has floats
	live.SetAnnotations(map[string]string{lastApplied: record})
	manifest := parse(t, bucketKind+"metadata: {name: a, namespace: ns}, spec: {providerRef: {name: aws}, bucketName: team-logs, tags: {stays: '2'}}}")
	after, err := inProcess(t).Admit(t.Context(), live, manifest)
	if err != nil {
		t.Fatal(err)
	}
	tags, _ := value(after, "spec", "tags").(map[string]any)
	if len(tags) != 2 || tags["stays"] != "2" || tags["others"] != "1" || after.GetGeneration() != 4 {
		t.Errorf("tags %v, generation %d", tags, after.GetGeneration())
	}
	again, err := inProcess(t).Admit(t.Context(), after, manifest)
	if err != nil || again.GetGeneration() != 4 || len(fieldsBetween(after, again)) > 0 {
		t.Errorf("the same manifest again: %v, generation %d, %v", err, again.GetGeneration(), fieldsBetween(after, again))
	}
}

func TestAdmit_RefusesWhatTheAPIServerWould(t *testing.T) {
	a := inProcess(t)
	live := parse(t, bucketKind+"metadata: {name: a, namespace: ns, uid: real, generation: 3}, spec: {providerRef: {name: aws}, bucketName: team-logs}}")
	for name, tc := range map[string]struct {
		live *unstructured.Unstructured
		spec string
		want string
	}{
		"an unknown field":    {nil, "{providerRef: {name: aws}, bucketName: team-logs, bucketname: x}", "bucketname"},
		"a missing field":     {nil, "{bucketName: team-logs}", "providerRef"},
		"a name that is none": {nil, "{providerRef: {name: aws}, bucketName: A_B}", "bucketName"},
		"an immutable field":  {live, "{providerRef: {name: aws}, bucketName: another}", "bucketName"},
	} {
		_, err := a.Admit(t.Context(), tc.live, parse(t, bucketKind+"metadata: {name: a, namespace: ns}, spec: "+tc.spec+"}"))
		if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonInvalidSpec || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	if refusal(status.Invalid("spec.x", "wrong")).Field != "spec.x" || refusal(errors.New("lost")) != nil {
		t.Error("a refusal names its field, and another error is none")
	}
}

func TestFutureUID_IsOfOneObjectAndALabel(t *testing.T) {
	a, b := parse(t, bucketKind+"metadata: {name: a}}"), parse(t, bucketKind+"metadata: {name: b}}")
	if futureUID(a) == futureUID(b) || futureUID(a) != futureUID(a.DeepCopy()) || len(futureUID(a)) > 63 || !isFuture(futureUID(a)) || isFuture("8f14e45f-ea8e-4c0a-9d5b-0123456789ab") {
		t.Errorf("%s, %s", futureUID(a), futureUID(b))
	}
}
