// SPDX-License-Identifier: Apache-2.0

package acm

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name   = "orders"
	domain = "orders.example.com"

	request = "acm:RequestCertificate"
	tag     = "acm:AddTagsToCertificate"
	untag   = "acm:RemoveTagsFromCertificate"
	remove  = "acm:DeleteCertificate"
)

type (
	spec = v1alpha1.CertificateSpec
	edit = func(s *spec)
)

func certificateOf(edits ...edit) *v1alpha1.Certificate {
	o := &v1alpha1.Certificate{}
	o.Name, o.Spec.DomainName = name, domain
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

func also(names ...v1alpha1.CertificateName) edit {
	return func(s *spec) { s.SubjectAlternativeNames = names }
}

func algorithm(v string) edit { return func(s *spec) { s.KeyAlgorithm = v } }

func tagged(k, v string) edit {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) edit { return func(s *spec) { s.DeletionPolicy = p } }

func imports(arn string) edit {
	return func(s *spec) {
		s.ImportID, s.AdoptionPolicy, s.DeletionPolicy = arn, v1alpha1.AdoptAlways, v1alpha1.DeletionDelete
	}
}

func api(r *kindtest.Rig) *acm.Client { return acm.NewFromConfig(r.Config) }

// certificates returns those of the account.
func certificates(t *testing.T, r *kindtest.Rig) []types.CertificateDetail {
	t.Helper()
	list, err := api(r).ListCertificates(t.Context(), &acm.ListCertificatesInput{})
	kindtest.Must(t, err)
	var out []types.CertificateDetail
	for _, c := range list.CertificateSummaryList {
		d, err := api(r).DescribeCertificate(t.Context(), &acm.DescribeCertificateInput{CertificateArn: c.CertificateArn})
		kindtest.Must(t, err)
		out = append(out, *d.Certificate)
	}
	return out
}

func exists(t *testing.T, r *kindtest.Rig) bool { return len(certificates(t, r)) > 0 }

func makeCertificate(t *testing.T, r *kindtest.Rig, tags map[string]string) string {
	t.Helper()
	in := &acm.RequestCertificateInput{DomainName: aws.String(domain), ValidationMethod: types.ValidationMethodDns}
	for k, v := range tags {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	out, err := api(r).RequestCertificate(t.Context(), in)
	kindtest.Must(t, err)
	return *out.CertificateArn
}

func before(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeCertificate(t, r, tags) }
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "Certificate", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func TestCertificate(t *testing.T) {
	kindtest.Run(t, engine.For(NewCertificate), slices.Concat(lives(), edits(), deletions(), owners()))
}

func lives() []kindtest.Case {
	refused := func(name string, edits ...edit) kindtest.Case {
		return kindtest.Case{Name: name, Object: certificateOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	return []kindtest.Case{
		{Name: "absent is requested by one call", Object: certificateOf(), Cause: engine.New, Actions: []string{request}},
		{Name: "with names, a key and tags",
			Object: certificateOf(also("*.orders.example.com", "api.example.com"), algorithm("EC_prime256v1"), tagged("team", "a")),
			Cause:  engine.New, Actions: []string{request}},
		{Name: "its first name again among the others", Object: certificateOf(also(domain)), Cause: engine.New, Actions: []string{request}},
		{Name: "names in another order", Existing: certificateOf(also("a.example.com", "b.example.com")),
			Object: certificateOf(also("b.example.com", "a.example.com")), Cause: engine.InSync},
		refused("a name in capital letters", func(s *spec) { s.DomainName = "Orders.example.com" }),
		refused("a wildcard in the middle", func(s *spec) { s.DomainName = "a.*.example.com" }),
		refused("a name that is too long for the first", func(s *spec) { s.DomainName = strings.Repeat("a", 60) + ".com.example" }),
		refused("an address", also("https://example.com")),
		refused("validation by email", func(s *spec) { s.ValidationMethod = "EMAIL" }),
		refused("a key that ACM does not make", algorithm("RSA_1024")),
		refused("a certificate to import by its ID", imports("12345678-1234-1234-1234-123456789012")),
	}
}

func edits() []kindtest.Case {
	return []kindtest.Case{
		{Name: "tags are added and dropped", Existing: certificateOf(tagged("old", "1")), Object: certificateOf(tagged("team", "a")),
			Cause: engine.Edited,
			Diff:  []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "another name", Existing: certificateOf(), Object: certificateOf(func(s *spec) { s.DomainName = "sales.example.com" }),
			Stalled: status.ReasonImmutable},
		{Name: "more names", Existing: certificateOf(), Object: certificateOf(also("*.orders.example.com")), Stalled: status.ReasonImmutable},
		{Name: "another key", Existing: certificateOf(), Object: certificateOf(algorithm("EC_secp384r1")), Stalled: status.ReasonImmutable},
	}
}

func deletions() []kindtest.Case {
	orphan := certificateOf(deletion(v1alpha1.DeletionOrphan))
	return []kindtest.Case{
		{Name: "deleting", Existing: certificateOf(), Object: certificateOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{remove}},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func owners() []kindtest.Case {
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: certificateOf(),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: certificateOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's object of this name has its own", Object: certificateOf(),
			Before: before(ownerTags("an-earlier-one", "another")), Cause: engine.New, Actions: []string{request}},
		{Name: "a certificate without owner is not searched for", Object: certificateOf(), Before: before(nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true },
			Cause: engine.New, Actions: []string{request}},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: certificateOf(also("*.orders.example.com"), tagged("team", "a")), Exists: exists,
		Edited:  certificateOf(also("*.orders.example.com"), tagged("team", "b")),
		Invalid: []v1alpha1.Resource{certificateOf(algorithm("RSA_1024"))},
	}
}

func TestCertificateSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewCertificate), life())
}

func TestCertificateSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewCertificate), life())
}

func subject(t *testing.T, o *v1alpha1.Certificate) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	return kindtest.NewSubject(r, engine.For(NewCertificate), o), r
}

func statusOf(s *kindtest.Subject) v1alpha1.CertificateStatus {
	return s.Object.(*v1alpha1.Certificate).Status
}

// A validation may take days: until then the records are shown, tags can be edited, and the certificate can be deleted.
func TestACertificateThatWaitsForItsRecords(t *testing.T) {
	s, r := subject(t, certificateOf(also("*.orders.example.com", "api.example.com")))
	r.AWS.ACM.SetUnvalidated(true)
	waits := func() {
		t.Helper()
		_, err := s.Settle(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Usable || !strings.Contains(w.For, "status.validationRecords") {
			t.Fatalf("got %v\n%s", err, r.AWS.Calls())
		}
	}
	waits()
	st := statusOf(s)
	if st.CertificateStatus != "PENDING_VALIDATION" || st.NotAfter != nil || len(st.ValidationRecords) != 2 {
		t.Fatalf("%+v", st)
	}
	if got := st.ValidationRecords[1]; got.Type != "CNAME" || !strings.HasSuffix(got.Name, ".orders.example.com.") ||
		!strings.HasSuffix(got.Value, ".acm-validations.aws.") {
		t.Errorf("%+v", got)
	}
	s.Edit(certificateOf(also("*.orders.example.com", "api.example.com"), tagged("team", "a")))
	mark := r.AWS.Mark()
	waits()
	if n := r.AWS.Since(mark).Match("acm", "AddTagsToCertificate", "*").Count(); n != 1 {
		t.Errorf("%d writes of tags\n%s", n, r.AWS.Since(mark))
	}
	r.AWS.ACM.SetUnvalidated(false)
	kindtest.Settled(t, s)
	if st := statusOf(s); st.CertificateStatus != "ISSUED" || st.NotAfter == nil {
		t.Errorf("%+v", st)
	}
	r.AWS.ACM.SetUnvalidated(true)
	s.Deleting = true
	kindtest.Settled(t, s)
	if exists(t, r) {
		t.Error("a certificate that waits was not deleted")
	}
}

func TestACertificateInUseIsKept(t *testing.T) {
	s, r := subject(t, certificateOf())
	kindtest.Settled(t, s)
	balancer := "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/orders/0123456789abcdef"
	r.AWS.ACM.SetCertificateUsers(statusOf(s).ARN, balancer)
	s.Deleting = true
	_, err := s.Settle(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonInUse || !strings.Contains(w.For, "1 resource uses it: "+balancer) {
		t.Fatalf("got %v", err)
	}
	if n := r.AWS.Calls().Match("acm", "DeleteCertificate", "*").Count(); n != 0 {
		t.Errorf("%d deletions of a certificate in use", n)
	}
	r.AWS.ACM.SetCertificateUsers(statusOf(s).ARN)
	kindtest.Settled(t, s)
	if exists(t, r) {
		t.Error("left behind")
	}
}

// ACM never issues a certificate after it has failed.
func TestAnEndedCertificateSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		detail types.CertificateDetail
		says   string
	}{
		{types.CertificateDetail{Status: types.CertificateStatusFailed, FailureReason: types.FailureReasonCaaError}, "is FAILED (CAA_ERROR)"},
		{types.CertificateDetail{Status: types.CertificateStatusRevoked, RevocationReason: types.RevocationReasonKeyCompromise},
			"is REVOKED (KEY_COMPROMISE)"},
		{types.CertificateDetail{Status: types.CertificateStatusValidationTimedOut}, "is VALIDATION_TIMED_OUT:"},
	} {
		c.detail.CertificateArn = aws.String("arn:of:it")
		err := explainEnd(&found{CertificateDetail: &c.detail})
		if st, ok := status.AsStalled(err); !ok || !strings.Contains(st.Message, c.says) ||
			!strings.Contains(st.Message, "aws acm delete-certificate --certificate-arn arn:of:it") {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}

func TestImportID_AdoptsACertificateWhereAllowed(t *testing.T) {
	s, r := subject(t, certificateOf())
	arn := makeCertificate(t, r, map[string]string{"theirs": "1"})
	s.Object.(*v1alpha1.Certificate).Spec = certificateOf(imports(arn)).Spec
	s.Object.CommonSpec().ProviderRef.Name = "provider"
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict {
		t.Fatalf("got %v, want a conflict", err)
	}
	s.AllowAdoption = true
	kindtest.Settled(t, s)
	if got := certificates(t, r); len(got) != 1 || statusOf(s).ID != arn {
		t.Errorf("%+v, %d certificates", statusOf(s), len(got))
	}
}

func TestLostRequestsMakeOneCertificate(t *testing.T) {
	s, r := subject(t, certificateOf())
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.SetLag(emulator.LikeAWS())
	t.Cleanup(func() { r.AWS.SetLag(emulator.Lag{}); r.AWS.SetClock(nil) })
	r.AWS.Fault(emulator.Match{Service: "acm", Op: "RequestCertificate", Times: 2}, emulator.LoseAnswer())
	for range 3 {
		if _, err := s.Settle(t.Context(), nil); err == nil {
			break
		}
	}
	r.AWS.SetLag(emulator.Lag{})
	kindtest.Settled(t, s)
	if n := len(certificates(t, r)); n != 1 {
		t.Fatalf("%d certificates\n%s", n, r.AWS.Calls())
	}
}

func TestCertificateCosts(t *testing.T) {
	s, _ := subject(t, certificateOf(tagged("team", "a")))
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create",
			Calls: map[string]int{"GetResources": 2, "RequestCertificate": 1, "DescribeCertificate": 1, "ListTagsForCertificate": 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{"DescribeCertificate": 1, "ListTagsForCertificate": 1}, Change: s.Forget},
		kindtest.Cost{Name: "delete",
			Calls:  map[string]int{"DeleteCertificate": 1, "DescribeCertificate": 2, "ListTagsForCertificate": 1, "GetResources": 1},
			Change: func() { s.Deleting = true }})
}
