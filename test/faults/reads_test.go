// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// parametersACall sets how many parameters AWS gives at a time.
const parametersACall = 10

// readsOf is the object's row in the table of minimum calls for a check that finds nothing to do: what
// tells that the resource is there and whose it is, and one call for each declared part that this does
// not tell.
func readsOf(o v1alpha1.Resource) int {
	switch o := o.(type) {
	case *v1alpha1.S3Bucket: // the tags tell both
		s := o.Spec
		return 1 + count(s.ObjectOwnership != nil, s.Versioning != nil, s.Encryption != nil, s.PublicAccessBlock != nil,
			s.Policy != nil || s.TLSOnly != nil, s.LifecycleRules != nil, s.CORSRules != nil, s.Logging != nil, s.Notification != nil,
			s.ObjectLock != nil, s.Website != nil, s.ACL != nil, s.Replication != nil)
	case *v1alpha1.DynamoDBTable: // no description has the tags
		return 2 + count(o.Spec.PointInTimeRecovery != nil, o.Spec.TTL != nil)
	case *v1alpha1.IAMRole: // with one inline policy: two
		all := o.Spec.ExclusivePolicies // the lists of both kinds of policies
		return 1 + len(o.Spec.InlinePolicies) + count(o.Spec.InlinePolicy != nil, all, all || o.Spec.ManagedPolicyArns != nil)
	case *v1alpha1.GlueDatabase, *v1alpha1.GlueCrawler: // and its tags
		return 2
	case *v1alpha1.GlueTable, *v1alpha1.SecretsManagerSecret:
		return 1
	case *v1alpha1.SSMParameterSet:
		return (len(o.Spec.Parameters) + parametersACall - 1) / parametersACall
	case *v1alpha1.SQSQueue: // and its tags
		return 2
	case *v1alpha1.SNSTopic: // and its tags, the list of subscriptions, and each of them
		return 2 + count(len(o.Spec.Subscriptions) > 0) + len(o.Spec.Subscriptions)
	case *v1alpha1.KMSKey: // and its tags
		s := o.Spec
		return 2 + count(s.KeyPolicy != nil, s.EnableKeyRotation != nil, len(s.Aliases) > 0)
	case *v1alpha1.CognitoUserPool: // the pool with its tags, each client, and the groups
		return 1 + len(o.Spec.Clients) + count(len(o.Spec.Groups) > 0)
	}
	return 0
}

func count(is ...bool) (n int) {
	for _, b := range is {
		if b {
			n++
		}
	}
	return n
}

// firstCheck is the first of the checks among the calls about one object: they are far apart.
func firstCheck(calls emulator.Calls, apart time.Duration) emulator.Calls {
	return calls.Filter(func(c emulator.Call) bool { return c.Start.Sub(calls[0].Start) < apart/2 })
}

func TestCheckOfACapability_ReadsNoMoreThanItsRows(t *testing.T) {
	extent.Full(t)
	const interval = 3 * time.Second
	r := newRig(t)
	more := r.Capability("examples/capability-with-messaging.yaml")
	more.Spec.EnableCognito, more.Spec.Ingress = true, &nexusv1.IngressSpec{Host: "dispatch.example.com"}
	more.Spec.DataServices.KMS = &nexusv1.KMSSpec{}
	all := []*nexusv1.NexusAICapability{r.Capability(example), r.Capability("examples/nexus-ai-complete.yaml"), more}
	for _, c := range all {
		r.Create(c)
	}
	for _, c := range all {
		r.Running(c)
	}
	r.calm()
	m := r.marks()
	r.Restart("--check-interval=" + interval.String())
	var objects []v1alpha1.Resource
	for _, c := range all {
		objects = append(objects, r.resources(c.Namespace)...)
		for _, l := range []client.ObjectList{&v1alpha1.SQSQueueList{}, &v1alpha1.SNSTopicList{}, &v1alpha1.CognitoUserPoolList{},
			&v1alpha1.KMSKeyList{}} {
			if err := r.Client.List(r.Ctx(), l, client.InNamespace(c.Namespace)); err != nil {
				t.Fatal(err)
			}
			for _, o := range bed.Items(l) {
				objects = append(objects, o.(v1alpha1.Resource))
			}
		}
	}
	var calls emulator.Calls
	r.Eventually(3*interval, "everything to be checked", func() error {
		calls, _ = r.since(m)
		for _, x := range thingsOf(objects) {
			if about := x.about(calls); len(about) == 0 || time.Since(about[0].Start) < interval/2 {
				return fmt.Errorf("%s was not", x)
			}
		}
		return nil
	})
	reads, rows, known := 0, 0, 0
	for _, o := range objects {
		x := thingOf(o)
		about := x.about(calls)
		known += len(about)
		check := firstCheck(about, interval)
		if n, most := len(check), readsOf(o); n > most {
			t.Errorf("%s: a check takes %d reads, its row has %d:\n%s", x, n, most, check)
		}
		reads, rows = reads+len(check), rows+readsOf(o)
	}
	t.Logf("%d objects of %d capabilities are checked with %d reads; the sum of their rows is %d", len(objects), len(all), reads, rows)
	if reads > rows || len(objects) < 48 {
		t.Errorf("%d reads for %d objects, at most %d are accounted for", reads, len(objects), rows)
	}
	// The other calls read the caller's identity and the IAM OIDC provider, each once per provider and interval.
	identity := calls.Match("sts", "GetCallerIdentity", "*").Count()
	issuer := calls.Match("iam", "GetOpenIDConnectProvider", "*").Count()
	if identity > 3*len(all) || issuer > 3*len(all) || known+identity+issuer != len(calls) {
		t.Errorf("%d calls, of which %d are about the objects, %d read the identity and %d the OIDC provider:\n%s", len(calls), known, identity,
			issuer, calls)
	}
	complain(t, "quiet", noisy(r.since(m)))
}
