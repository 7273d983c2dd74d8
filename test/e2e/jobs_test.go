// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The example with a Job and a CronJob runs, a changed image runs the Job again exactly once, and all go without residue.
func TestJobs_RunOnceForEachDeclaration(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.Capability("examples/capability-with-jobs.yaml")
	b.Create(c)
	b.Running(c)
	b.Shows(c, nexusv1.ConditionComponentsReady, metav1.ConditionTrue, "Ready")
	first := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "report-dev-prepare"}}
	if err := b.Get(first); err != nil || first.Status.Succeeded != 1 {
		t.Fatalf("%+v %v", first.Status, err)
	}
	for _, row := range c.Status.Components {
		ends := slices.Contains([]string{"prepare", "nightly"}, row.Name)
		if row.State != nexusv1.ResourceReady || ends != (row.Runs != nil) || row.Name == "nightly" && row.Runs.Next == nil {
			t.Errorf("%+v %+v", row, row.Runs)
		}
	}
	seen := map[types.UID]bool{first.UID: true}
	b.Edit(c, func() {
		i := slices.IndexFunc(c.Spec.Components, func(n nexusv1.NamedComponentSpec) bool { return n.Name == "prepare" })
		c.Spec.Components[i].Image = "report:2.0.0"
	})
	b.Running(c)
	again := &batchv1.Job{ObjectMeta: first.ObjectMeta}
	b.Eventually(time.Minute, "the Job to run again", func() error {
		if err := b.Get(again); err != nil || again.Status.Succeeded != 1 || seen[again.UID] {
			return fmt.Errorf("%+v %v", again.Status, err)
		}
		return nil
	})
	pods := &corev1.PodList{}
	b.Eventually(time.Minute, "the pods of the first run to be gone", func() error {
		if err := b.Client.List(t.Context(), pods, client.InNamespace(c.Namespace),
			client.MatchingLabels{batchv1.JobNameLabel: again.Name}); err != nil || len(pods.Items) != 1 {
			return fmt.Errorf("%d pods: %v", len(pods.Items), err)
		}
		return nil
	})
	b.Edit(c, func() { c.Spec.DriftPolicy = nexusv1.DriftReport }) // another generation, and the same declaration of the Job
	b.Running(c)
	if err := b.Get(again); err != nil || again.UID != pods.Items[0].OwnerReferences[0].UID {
		t.Errorf("the Job ran once more: %v", err)
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}
