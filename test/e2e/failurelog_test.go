// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// An object that fails is tried again every minute. A line at Error for each try would hide what fails for the first time.
func TestAFailureThatLastsIsLoggedOnceAtError(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	o := bucket("denied-again")
	b.Create(o)
	b.Ready(o)
	for i, purpose := range []string{"first", "second"} {
		rule := b.World.AWS().Fault(emulator.Match{Service: "s3", Op: "PutBucketTagging"},
			emulator.Fail(403, "AccessDenied", "not authorized to perform: s3:PutBucketTagging"))
		b.Edit(o, func() { o.Spec.Tags = map[string]v1alpha1.TagValue{"purpose": v1alpha1.TagValue(purpose)} })
		b.Shows(o, "Stalled", metav1.ConditionTrue, "AccessDenied")
		b.Passes("s3bucket", 3, func() {})
		if lines := errorsAbout(b.Op.Log(), o.Name); len(lines) != i+1 {
			t.Errorf("the failure after success %d and three more tries: %d lines, want one for each success:\n%s", i+1, len(lines),
				strings.Join(lines, "\n"))
		}
		rule.Remove()
		b.Ready(o)
	}
}

// errorsAbout returns the lines of a log at level Error that are about an object.
func errorsAbout(log, name string) []string {
	var out []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"level":"ERROR"`) && strings.Contains(line, `"name":"`+name+`"`) {
			out = append(out, line)
		}
	}
	return out
}
