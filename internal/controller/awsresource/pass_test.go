// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// deletableEntry is an Entry with resources that are deleted with their objects.
type deletableEntry struct{ roleEntry }

// Meta implements engine.Entry.
func (deletableEntry) Meta() kind.Meta { return kind.Meta{} }

func TestPass_DeletionsOfObjectsThatMadeNothingNeedNoAWS(t *testing.T) {
	for name, c := range map[string]struct {
		intent *engine.Intent
		id     string
		want   bool
	}{
		"no record":                               {want: true},
		"no record, and the status has it":        {id: "role"},
		"an attempt":                              {intent: &engine.Intent{UID: "u"}},
		"a refused attempt":                       {intent: &engine.Intent{UID: "u", Refused: true}, want: true},
		"a refused attempt and the status has it": {intent: &engine.Intent{UID: "u", Refused: true}, id: "role"},
	} {
		t.Run(name, func(t *testing.T) {
			now := metav1.Now()
			role := &v1alpha1.IAMRole{}
			role.UID, role.DeletionTimestamp, role.Status.ID = "u", &now, c.id
			if c.intent != nil {
				annotations, err := c.intent.Annotations()
				if err != nil {
					t.Fatal(err)
				}
				role.SetAnnotations(annotations)
			}
			p := &pass{r: &Reconciler{Entry: deletableEntry{}}, obj: role}
			if _, done, err := p.finishWithoutAWS(); err != nil || done != c.want {
				t.Errorf("done: %v %v, want %v", done, err, c.want)
			}
		})
	}
}
