// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// The roles as which an AWSProvider calls AWS are reserved, whatever their paths, and so are the queues of its drift events.
func TestExternal_ReservesWhatTheOperatorWorksWith(t *testing.T) {
	c := &nexusv1.NexusAICapability{Spec: nexusv1.NexusAICapabilitySpec{DataServices: &nexusv1.DataServicesSpec{Roles: []nexusv1.RoleSpec{{Name: "a", Existing: nexusv1.ExistingStore{Name: "a"}}}}}}
	p := &v1alpha1.AWSProvider{}
	p.Spec.RoleARN, p.Spec.AssumeRoleARN, p.Status.CallerIdentity = "arn:aws:iam::111122223333:role/ops/first",
		"arn:aws:iam::111122223333:role/second", "arn:aws:sts::111122223333:assumed-role/caller/x"
	p.Spec.DriftEvents = &v1alpha1.DriftEventsSpec{QueueURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/drift"}
	p.Spec.AllowedExternalARNs = []v1alpha1.ExternalARNPattern{"arn:aws:iam::111122223333:role/*", "arn:aws:kms:eu-west-1:111122223333:key/*"}
	var f capability.Facts
	Gatherer{}.external(c, p, &f)
	if !slices.Equal(f.Provider.ExternalARNs, []string{"arn:aws:iam::111122223333:role/*"}) {
		t.Errorf("allowed: %v", f.Provider.ExternalARNs)
	}
	for arn, want := range map[string]bool{
		"arn:aws:iam::111122223333:role/ops/first": true, "arn:aws:iam::111122223333:role/first": true,
		"arn:aws:iam::111122223333:role/second":     true,
		"arn:aws:iam::111122223333:role/a/b/caller": true, "arn:aws:iam::111122223333:role/caller-2": false,
		"arn:aws:iam::999999999999:role/caller":    false,
		"arn:aws:sqs:eu-west-1:111122223333:drift": true, "arn:aws:iam::111122223333:role/ops/second-x": false,
	} {
		got := slices.ContainsFunc(f.Limits.ReservedARNs, func(pattern string) bool { return iampolicy.MatchesPattern(pattern, arn) })
		if got != want {
			t.Errorf("%s is reserved: %v", arn, got)
		}
	}
}
