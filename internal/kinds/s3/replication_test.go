// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// copiesBucket receives copies of objects.
	copiesBucket   = "myapp-dev-copies"
	copiesARN      = "arn:aws:s3:::" + copiesBucket
	replicatorRole = "arn:aws:iam::123456789012:role/replicator"
)

// copies makes the destination of replication, with versioning or without.
func copies(s *kindtest.Subject, versioning types.BucketVersioningStatus) {
	ctx := context.Background()
	_, err := api(s.Rig).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(copiesBucket),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(s.Rig.Region)}})
	if err == nil && versioning != "" {
		_, err = api(s.Rig).PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: aws.String(copiesBucket),
			VersioningConfiguration: &types.VersioningConfiguration{Status: versioning}})
	}
	if err != nil {
		panic(err)
	}
	s.Targets = map[string]kind.Target{"S3Bucket/copies": {ID: copiesBucket, ARN: copiesARN},
		"IAMRole/replicator": {ID: "replicator", ARN: replicatorRole}}
}

// replicas makes the resources that the references of replication name.
func replicas(s *kindtest.Subject) { copies(s, types.BucketVersioningStatusEnabled) }

// replicated has two rules: one of every member, by references, and one of the fewest.
func replicated(s *spec) {
	versioned(s)
	s.Replication = &v1alpha1.S3Replication{RoleRef: &v1alpha1.ObjectReference{Name: "replicator"}, Rules: []v1alpha1.S3ReplicationRule{
		{ID: "calls", Enabled: true, Priority: 2, Prefix: "calls/", Tags: map[string]v1alpha1.TagValue{"class": "call", "team": "a"},
			Destination: v1alpha1.S3ReplicationDestination{BucketRef: &v1alpha1.ObjectReference{Name: "copies"}, StorageClass: "STANDARD_IA",
				KMSKeyARN: "arn:aws:kms:eu-west-1:123456789012:key/k"}},
		{ID: "all", Enabled: true, ReplicateDeleteMarkers: true, Destination: v1alpha1.S3ReplicationDestination{BucketARN: copiesARN}}}}
}

// unreplicated removes all rules.
func unreplicated(s *spec) { s.Replication = &v1alpha1.S3Replication{} }

// changeReplication changes the configuration in AWS past the operator.
func changeReplication(change func(c *types.ReplicationConfiguration)) func(t *testing.T, r *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		out, err := api(r).GetBucketReplication(t.Context(), &s3.GetBucketReplicationInput{Bucket: aws.String(name)})
		kindtest.Must(t, err)
		change(out.ReplicationConfiguration)
		_, err = api(r).PutBucketReplication(t.Context(),
			&s3.PutBucketReplicationInput{Bucket: aws.String(name), ReplicationConfiguration: out.ReplicationConfiguration})
		kindtest.Must(t, err)
	}
}

// replicationRows are the rows of the replication.
func replicationRows() []kindtest.Case {
	bare := func(s *spec) {
		replicated(s)
		r := &s.Replication.Rules[0]
		r.Enabled, r.Prefix, r.Tags, r.Destination.StorageClass, r.Destination.KMSKeyARN = false, "", nil, "", ""
		s.Replication.Rules[1].ReplicateDeleteMarkers = false
	}
	one := func(edit func(r *v1alpha1.S3ReplicationRule)) *v1alpha1.S3Bucket {
		return with(replicated, func(s *spec) { s.Replication.Rules = s.Replication.Rules[1:]; edit(&s.Replication.Rules[0]) })
	}
	literal := func(s *spec) { replicated(s); s.Replication.RoleARN, s.Replication.RoleRef = replicatorRole, nil }
	adopted := func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }
	return []kindtest.Case{
		{Name: "a bucket that copies as another role is not adopted", Object: with(adopted),
			Facts: func(s *kindtest.Subject) { replicas(s); s.AllowAdoption, s.RolePath = true, "/team/" },
			Before: func(t *testing.T, r *kindtest.Rig) {
				createBucket(t, r)
				_, err := api(r).PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: aws.String(name),
					VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
				kindtest.Must(t, err)
				_, err = api(r).PutBucketReplication(t.Context(), &s3.PutBucketReplicationInput{Bucket: aws.String(name),
					ReplicationConfiguration: &types.ReplicationConfiguration{Role: aws.String(replicatorRole),
						Rules: []types.ReplicationRule{{ID: aws.String("all"), Status: types.ReplicationRuleStatusEnabled, Prefix: aws.String(""),
							Destination: &types.Destination{Bucket: aws.String(copiesARN)}}}}})
				kindtest.Must(t, err)
			}, Stalled: status.ReasonNotPermitted},
		{Name: "replication follows the versioning of a new bucket", Object: with(replicated), Facts: replicas, Cause: engine.New,
			Actions: []string{"s3:CreateBucket", "s3:PutBucketVersioning", "s3:PutReplicationConfiguration"}},
		{Name: "replication of an existing bucket", Existing: with(versioned), Object: with(replicated), Facts: replicas, Cause: engine.Edited,
			Diff: []string{"ReplicationRole", "Replication[all]", "Replication[calls]"}, Actions: []string{"s3:PutReplicationConfiguration"}},
		{Name: "members of a replication rule are unset", Existing: with(replicated), Object: with(bare), Facts: replicas, Cause: engine.Edited,
			Diff: []string{"Replication[all].ReplicateDeleteMarkers", "Replication[calls].Enabled", "Replication[calls].Prefix",
				"Replication[calls].Tags[class]", "Replication[calls].Tags[team]",
				"Replication[calls].Destination.StorageClass", "Replication[calls].Destination.KMSKeyARN"},
			Actions: []string{"s3:PutReplicationConfiguration"}},
		{Name: "role and destination by ARN are those of the references", Existing: with(replicated), Object: with(literal, func(s *spec) {
			s.Replication.Rules[0].Destination.BucketRef, s.Replication.Rules[0].Destination.BucketARN = nil, copiesARN
		}), Facts: replicas, Cause: engine.InSync},
		{Name: "a replication rule is dropped", Existing: with(replicated), Object: one(func(*v1alpha1.S3ReplicationRule) {}), Facts: replicas,
			Cause: engine.Edited,
			Diff:  []string{"Replication[calls]"}, Actions: []string{"s3:PutReplicationConfiguration"}},
		{Name: "replication that the spec leaves out stays", Existing: with(replicated), Object: with(versioned), Facts: replicas,
			Cause: engine.InSync},
		{Name: "replication is removed", Existing: with(replicated), Object: with(versioned, unreplicated), Facts: replicas, Cause: engine.Edited,
			Diff: []string{"ReplicationRole", "Replication[all]", "Replication[calls]"}, Actions: []string{"s3:PutReplicationConfiguration"}},
		{Name: "replication is removed before versioning is suspended", Existing: with(replicated),
			Object: with(unreplicated, func(s *spec) { s.Versioning = &v1alpha1.S3Versioning{} }),
			Facts:  func(s *kindtest.Subject) { replicas(s) }, Cause: engine.Edited,
			Diff:    []string{"Versioning.Enabled", "ReplicationRole", "Replication[all]", "Replication[calls]"},
			Actions: []string{"s3:PutBucketVersioning", "s3:PutReplicationConfiguration"}},
		{Name: "replication that was changed is corrected", Existing: with(replicated), Object: with(replicated), Facts: replicas, Drift: true,
			Before: changeReplication(func(c *types.ReplicationConfiguration) {
				c.Role = aws.String(replicatorRole + "-of-others")
				for i := range c.Rules {
					if *c.Rules[i].ID == "all" {
						c.Rules[i].Status, c.Rules[i].Filter = types.ReplicationRuleStatusDisabled, &types.ReplicationRuleFilter{Prefix: aws.String("x/")}
					} else {
						c.Rules[i].ID = aws.String("theirs")
					}
				}
			}), Cause: engine.Drifted,
			Diff:    []string{"ReplicationRole", "Replication[all].Enabled", "Replication[all].Prefix", "Replication[calls]", "Replication[theirs]"},
			Actions: []string{"s3:PutReplicationConfiguration"}},
		{Name: "replication that was removed is made again", Existing: with(replicated), Object: with(replicated), Facts: replicas, Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).DeleteBucketReplication(t.Context(), &s3.DeleteBucketReplicationInput{Bucket: aws.String(name)})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"ReplicationRole", "Replication[all]", "Replication[calls]"},
			Actions: []string{"s3:PutReplicationConfiguration"}},
		{Name: "the order, the form of filters and settings that cannot be declared mean nothing", Existing: with(replicated),
			Object: with(replicated), Facts: replicas, Drift: true,
			Before: changeReplication(func(c *types.ReplicationConfiguration) {
				slices.Reverse(c.Rules)
				for i := range c.Rules {
					if f := c.Rules[i].Filter; f.And != nil {
						slices.Reverse(f.And.Tags)
					} else {
						f.And, f.Prefix = &types.ReplicationRuleAndOperator{Prefix: aws.String("")}, nil
					}
					c.Rules[i].Destination.Metrics = &types.Metrics{Status: types.MetricsStatusEnabled}
				}
			}), Cause: engine.InSync},
		{Name: "two replication rules of one id", Object: with(replicated, func(s *spec) { s.Replication.Rules[1].ID = "calls" }),
			Facts: replicas, Stalled: status.ReasonInvalidSpec},
		{Name: "replication to the bucket itself",
			Object: one(func(r *v1alpha1.S3ReplicationRule) { r.Destination.BucketARN = "arn:aws:s3:::" + name }), Facts: replicas,
			Stalled: status.ReasonInvalidSpec},
		{Name: "replication to the bucket itself by a reference", Facts: replicas, Stalled: status.ReasonInvalidSpec,
			Object: one(func(r *v1alpha1.S3ReplicationRule) {
				r.Destination = v1alpha1.S3ReplicationDestination{BucketRef: &v1alpha1.ObjectReference{Name: name}}
			})},
		{Name: "a role that the provider does not let be given to S3", Object: with(literal),
			Facts: func(s *kindtest.Subject) { s.RolePath = "" }, Stalled: status.ReasonNotPermitted},
		{Name: "a role where the provider bounds every role", Object: with(literal),
			Facts: func(s *kindtest.Subject) { s.Boundary = "arn:aws:iam::123456789012:policy/b" }, Stalled: status.ReasonNotPermitted},
		{Name: "a destination without versioning is waited for", Existing: with(versioned), Object: with(replicated), OnRun: true,
			Waiting: status.ReasonWaiting,
			Facts:   func(s *kindtest.Subject) { copies(s, "") }},
	}
}

// TestReplicationOverlay: each row is a rule as S3 has it and the same rule after a write of the declared one.
func TestReplicationOverlay(t *testing.T) {
	tag := types.Tag{Key: aws.String("k"), Value: aws.String("v")}
	to := func(edit func(d *types.Destination)) *types.Destination {
		d := &types.Destination{Bucket: aws.String(copiesARN)}
		edit(d)
		return d
	}
	owner := func(d *types.Destination) {
		d.Account, d.AccessControlTranslation = aws.String("210987654321"), &types.AccessControlTranslation{Owner: types.OwnerOverrideDestination}
	}
	inTime := func(d *types.Destination) {
		d.Metrics, d.ReplicationTime = &types.Metrics{Status: types.MetricsStatusEnabled},
			&types.ReplicationTime{Status: types.ReplicationTimeStatusEnabled}
	}
	encrypted := func(d *types.Destination) {
		d.EncryptionConfiguration = &types.EncryptionConfiguration{ReplicaKmsKeyID: aws.String("k")}
	}
	plain := func(*types.Destination) {}
	filter := func(prefix string) *types.ReplicationRuleFilter { return &types.ReplicationRuleFilter{Prefix: &prefix} }
	changes := &types.ReplicaModifications{Status: types.ReplicaModificationsStatusEnabled}
	kms := &types.SseKmsEncryptedObjects{Status: types.SseKmsEncryptedObjectsStatusEnabled}
	for _, c := range []struct {
		name        string
		declared    v1alpha1.S3ReplicationRule
		found, want types.ReplicationRule
	}{
		{"a new rule is for all objects", v1alpha1.S3ReplicationRule{}, types.ReplicationRule{},
			types.ReplicationRule{Filter: filter(""), Destination: to(plain)}},
		//lint:ignore SA1019 the earlier version of a rule
		{"a rule of the earlier version gets a filter", v1alpha1.S3ReplicationRule{Prefix: "a"},
			types.ReplicationRule{Prefix: aws.String("a"), Destination: to(plain)},
			types.ReplicationRule{Filter: filter("a"), Destination: to(plain)}},
		{"one tag needs no And", v1alpha1.S3ReplicationRule{Tags: map[string]v1alpha1.TagValue{"k": "v"}},
			types.ReplicationRule{Filter: filter("a")},
			types.ReplicationRule{Filter: &types.ReplicationRuleFilter{Tag: &tag}, Destination: to(plain)}},
		{"a tag joins a prefix", v1alpha1.S3ReplicationRule{Prefix: "a", Tags: map[string]v1alpha1.TagValue{"k": "v"}},
			types.ReplicationRule{Filter: filter("a")},
			types.ReplicationRule{Filter: &types.ReplicationRuleFilter{And: &types.ReplicationRuleAndOperator{Prefix: aws.String("a"),
				Tags: []types.Tag{tag}}}, Destination: to(plain)}},
		{"time control and the owner of replicas stay", v1alpha1.S3ReplicationRule{},
			types.ReplicationRule{Destination: to(func(d *types.Destination) { owner(d); inTime(d) })},
			types.ReplicationRule{Filter: filter(""), Destination: to(func(d *types.Destination) { owner(d); inTime(d) })}},
		{"the owner of another bucket goes", v1alpha1.S3ReplicationRule{},
			types.ReplicationRule{Destination: to(func(d *types.Destination) { owner(d); inTime(d); d.Bucket = aws.String("b") })},
			types.ReplicationRule{Filter: filter(""), Destination: to(inTime)}},
		{"a key joins the replication of changes", v1alpha1.S3ReplicationRule{Destination: v1alpha1.S3ReplicationDestination{KMSKeyARN: "k"}},
			types.ReplicationRule{SourceSelectionCriteria: &types.SourceSelectionCriteria{ReplicaModifications: changes}},
			types.ReplicationRule{Filter: filter(""), Destination: to(encrypted),
				SourceSelectionCriteria: &types.SourceSelectionCriteria{ReplicaModifications: changes, SseKmsEncryptedObjects: kms}}},
		{"without a key, encrypted objects are not copied", v1alpha1.S3ReplicationRule{},
			types.ReplicationRule{Destination: to(encrypted), SourceSelectionCriteria: &types.SourceSelectionCriteria{SseKmsEncryptedObjects: kms}},
			types.ReplicationRule{Filter: filter(""), Destination: to(plain)}},
	} {
		c.declared.ID, c.declared.Priority, c.declared.Destination.BucketARN = "rule", 7, copiesARN
		c.found.ID, c.want.ID, c.want.Priority, c.want.Status = aws.String("rule"), aws.String("rule"), aws.Int32(7),
			types.ReplicationRuleStatusDisabled
		c.want.DeleteMarkerReplication = &types.DeleteMarkerReplication{Status: types.DeleteMarkerReplicationStatusDisabled}
		want := BucketState{ReplicationRole: aws.String(replicatorRole),
			Replication: map[string]v1alpha1.S3ReplicationRule{"rule": completeReplication(c.declared)}}
		got := toReplication(want, []types.ReplicationRule{c.found})
		if !reflect.DeepEqual(got.Rules, []types.ReplicationRule{c.want}) {
			t.Errorf("%s: got %+v", c.name, got.Rules[0])
		}
		var have BucketState
		fromReplication(&s3.GetBucketReplicationOutput{ReplicationConfiguration: got}, BucketState{}, &have)
		if diff := engine.Compare(want, have, nil, nil); len(diff) > 0 {
			t.Errorf("%s: reads back with %+v", c.name, diff)
		}
	}
}

// A rule of the earlier version replicates delete markers without saying so.
func TestRulesOfTheEarlierVersionReplicateDeleteMarkers(t *testing.T) {
	var have BucketState
	fromReplication(&s3.GetBucketReplicationOutput{ReplicationConfiguration: &types.ReplicationConfiguration{
		Rules: []types.ReplicationRule{{ID: aws.String("old"), Prefix: aws.String("a")},
			{ID: aws.String("new"), Filter: &types.ReplicationRuleFilter{}}}}}, BucketState{}, &have)
	if old, now := have.Replication["old"], have.Replication["new"]; !old.ReplicateDeleteMarkers || old.Prefix != "a" ||
		now.ReplicateDeleteMarkers {
		t.Errorf("got %+v", have.Replication)
	}
}

func TestReplicationThatAdmissionRefuses(t *testing.T) {
	r := kindtest.NewRig(t)
	for message, edit := range map[string]func(s *spec){
		"replication needs versioning: set versioning.enabled: true": func(s *spec) { s.Versioning = &v1alpha1.S3Versioning{} },
		"replication needs rules and exactly one of roleArn":         func(s *spec) { s.Replication.RoleARN = replicatorRole },
		"exactly one of roleArn and roleRef; {} removes":             func(s *spec) { s.Replication.RoleRef = nil },
		"needs rules and exactly one":                                func(s *spec) { s.Replication.Rules = nil },
		"two rules have the same priority":                           func(s *spec) { s.Replication.Rules[0].Priority = 0 },
		"a rule with tags cannot have replicateDeleteMarkers":        func(s *spec) { s.Replication.Rules[0].ReplicateDeleteMarkers = true },
		"a destination needs exactly one of bucketArn and bucketRef": func(s *spec) { s.Replication.Rules[0].Destination.BucketARN = copiesARN },
		"spec.replication.rules[1].destination.bucketArn": func(s *spec) {
			s.Replication.Rules[1].Destination.BucketARN = copiesARN + "/*"
		},
		"spec.replication.roleArn": func(s *spec) {
			s.Replication.RoleRef, s.Replication.RoleARN = nil, "replicator"
		},
	} {
		t.Run(message, func(t *testing.T) {
			_, err := kindtest.NewSubject(r, engine.For(NewBucket), with(replicated, edit)).Settle(t.Context(), nil)
			if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonInvalidSpec || !strings.Contains(st.Error(), message) {
				t.Errorf("got %v, want InvalidSpec with %s", err, message)
			}
		})
	}
}

// The bucket is not created without the replication that it is to have.
func TestReplicationWaitsForItsReferences(t *testing.T) {
	for _, missing := range []string{"S3Bucket/copies", "IAMRole/replicator"} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewBucket), with(replicated))
		replicas(s)
		delete(s.Targets, missing)
		mark := r.AWS.Mark()
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || !strings.Contains(w.For, missing) {
			t.Errorf("got %v, want to wait for %s", err, missing)
		}
		if n := r.AWS.Since(mark).Writes().Count(); n > 0 {
			t.Errorf("%d writes", n)
		}
	}
}

func TestReplicationIsRemovedBeforeVersioningIsSuspended(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewBucket), with(replicated))
	replicas(s)
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	s.Edit(with(unreplicated, func(s *spec) { s.Versioning = &v1alpha1.S3Versioning{} }))
	mark := r.AWS.Mark()
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if got, want := r.AWS.Since(mark).Writes().Labels(),
		[]string{"s3.DeleteBucketReplication(" + name + ")", "s3.PutBucketVersioning(" + name + ")"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func replicationLife() kindtest.Life {
	l := life()
	l.Facts, l.Sample = replicas, bucketOf(replicated)
	l.Edited = with(replicated, func(s *spec) {
		s.Replication.Rules[0].Prefix, s.Replication.Rules[1].Priority, s.Tags = "traces/", 1, map[string]v1alpha1.TagValue{"team": "a"}
	})
	l.Invalid = []v1alpha1.Resource{with(replicated, func(s *spec) { s.Replication.Rules[1].Destination.BucketARN = "arn:aws:s3:::" + name })}
	return l
}

func TestReplicationSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewBucket), replicationLife())
}

func TestReplicationSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewBucket), replicationLife())
}
