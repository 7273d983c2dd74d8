// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
)

// place is a provider, with the account and region to which it leads.
type place struct{ provider, account, region string }

const (
	productionAccount = "111122223333"
	stagingAccount    = "444455556666"
)

// places lists the places of examples/multi-account and, first, the operator's own account.
var places = []place{
	{"home", homeAccount, "ap-southeast-1"},
	{"production", productionAccount, "eu-west-1"},
	{"production-us", productionAccount, "us-east-1"},
	{"staging", stagingAccount, "eu-west-1"},
}

// regions are all regions of places.
var regions = []string{"ap-southeast-1", "eu-west-1", "us-east-1"}

func placeOf(o v1alpha1.Resource) place {
	return places[slices.IndexFunc(places, func(p place) bool { return p.provider == o.CommonSpec().ProviderRef.Name })]
}

// estate is a bed with objects in several accounts and regions. Names in AWS are the same everywhere, except where AWS forbids it.
type estate struct {
	*bed
	providers map[string]*v1alpha1.AWSProvider
	objects   []v1alpha1.Resource
}

// newEstate applies the example, and what it leaves out at some places. The roles are created last, with the ExternalIDs that the
// providers report.
func newEstate(b *bed, beyond ...place) *estate {
	b.Helper()
	e := &estate{b, map[string]*v1alpha1.AWSProvider{"home": provider("home")}, nil}
	var all []client.Object
	for _, u := range b.File("examples/multi-account/two-accounts.yaml") {
		o, err := b.Client.Scheme().New(u.GroupVersionKind())
		must(b, 0, err)
		must(b, 0, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o))
		switch o := o.(type) {
		case *v1alpha1.AWSProvider:
			e.providers[o.Name] = o
		case v1alpha1.Resource:
			e.objects = append(e.objects, o)
		}
	}
	for _, p := range beyond {
		e.objects = append(e.objects, p.beyondTheExample()...)
	}
	for _, p := range places {
		all = append(all, e.providers[p.provider])
	}
	all = append(all, clientObjects(e.objects)...)
	for _, o := range all {
		o.SetNamespace(b.Namespace)
	}
	b.Create(all...)
	for _, p := range places[1:] {
		b.Shows(e.providers[p.provider], "Stalled", metav1.ConditionTrue, "RoleNotAssumable")
	}
	e.trustAll(productionAccount, "production", "production-us")
	e.trustAll(stagingAccount, "staging")
	for _, account := range []string{productionAccount, stagingAccount} {
		b.createOIDCProvider(account, "sts.amazonaws.com") // without it, roles are checked more often
	}
	b.Ready(all...)
	return e
}

func clientObjects(objects []v1alpha1.Resource) []client.Object {
	var out []client.Object
	for _, o := range objects {
		out = append(out, o)
	}
	return out
}

// trustAll lets the role of an account be assumed by exactly these providers.
func (e *estate) trustAll(account string, providers ...string) string {
	e.Helper()
	var ids []string
	for _, name := range providers {
		ids = append(ids, e.providers[name].Status.ExternalID)
	}
	return e.trust(account, "nexus", ids...)
}

// beyondTheExample are objects of a place that the example leaves out.
func (p place) beyondTheExample() []v1alpha1.Resource {
	meta, common := metav1.ObjectMeta{Name: "orders-" + p.provider}, through(p.provider)
	deleted := common
	deleted.DeletionPolicy = v1alpha1.DeletionDelete
	out := []v1alpha1.Resource{
		&v1alpha1.S3Bucket{ObjectMeta: meta, Spec: v1alpha1.S3BucketSpec{CommonSpec: common, BucketName: "example-orders-" + p.provider}},
		&v1alpha1.SSMParameterSet{ObjectMeta: meta, Spec: v1alpha1.SSMParameterSetSpec{CommonSpec: common, Path: "/orders",
			Parameters: map[string]v1alpha1.SSMParameter{"place": {Value: p.provider}}}},
		&v1alpha1.KMSKey{ObjectMeta: meta,
			Spec: v1alpha1.KMSKeySpec{CommonSpec: deleted, Aliases: []v1alpha1.KMSAlias{"alias/orders"}, PendingWindowInDays: aws.Int32(7)}},
	}
	if p.provider != "production-us" { // roles belong to an account and to no region
		out = append(out, &v1alpha1.IAMRole{ObjectMeta: meta,
			Spec: v1alpha1.IAMRoleSpec{CommonSpec: common, RoleName: "orders", IRSA: &v1alpha1.IAMRoleIRSA{ServiceAccount: "orders"}}})
	}
	if p.provider == "home" {
		out = append(out, &v1alpha1.SQSQueue{ObjectMeta: meta, Spec: v1alpha1.SQSQueueSpec{CommonSpec: common, QueueName: "orders"}},
			&v1alpha1.DynamoDBTable{ObjectMeta: meta,
				Spec: v1alpha1.DynamoDBTableSpec{CommonSpec: common, TableName: "orders", HashKey: v1alpha1.DynamoDBAttribute{Name: "pk", Type: "S"}}})
	}
	return out
}

// at are the objects of a place.
func (e *estate) at(p place) []v1alpha1.Resource {
	return slices.DeleteFunc(slices.Clone(e.objects), func(o v1alpha1.Resource) bool { return placeOf(o) != p })
}

// of returns the object of a place of the same type.
func of[T v1alpha1.Resource](e *estate, provider string) T {
	i := slices.IndexFunc(e.objects, func(o v1alpha1.Resource) bool {
		_, ok := o.(T)
		return ok && placeOf(o).provider == provider
	})
	return e.objects[i].(T)
}

// identified returns the kind and name of an object's resource in an inventory, and its ARN.
func identified(o v1alpha1.Resource) (kind, name, arn string) {
	p := placeOf(o)
	regional := func(service, rest string) string {
		return "arn:aws:" + service + ":" + p.region + ":" + p.account + ":" + rest
	}
	switch o := o.(type) {
	case *v1alpha1.S3Bucket:
		return "s3/bucket", o.Spec.BucketName, "arn:aws:s3:::" + o.Spec.BucketName
	case *v1alpha1.IAMRole:
		return "iam/role", o.Spec.RoleName, "arn:aws:iam::" + p.account + ":role/" + o.Spec.RoleName
	case *v1alpha1.SQSQueue:
		kind, name, arn = "sqs/queue", o.Spec.QueueName, regional("sqs", o.Spec.QueueName)
	case *v1alpha1.DynamoDBTable:
		kind, name, arn = "dynamodb/table", o.Spec.TableName, regional("dynamodb", "table/"+o.Spec.TableName)
	case *v1alpha1.SSMParameterSet:
		kind, name, arn = "ssm/parameter", o.Spec.Path+"/place", regional("ssm", "parameter"+o.Spec.Path)
	case *v1alpha1.KMSKey:
		kind, name, arn = "kms/key", o.Status.KeyID, regional("kms", "key/"+o.Status.KeyID)
	}
	if p.region != regions[0] {
		name = p.region + ":" + name
	}
	return kind, name, arn
}

// in is a configuration with every right in a place.
func (e *estate) in(p place) aws.Config {
	e.Helper()
	cfg := e.admin(p.account)
	cfg.Region = p.region
	return cfg
}

// found is all that is in an account in the regions, without what the test itself has put there.
func (e *estate) found(account string) map[string][]string {
	e.Helper()
	key, err := e.admin(account).Credentials.Retrieve(e.Ctx())
	inv, err := e.World.AWS().InventoryOf(e.Ctx(), must(e.bed, key, err).AccessKeyID, regions...)
	must(e.bed, 0, err)
	inv["iam/role"] = slices.DeleteFunc(inv["iam/role"], func(name string) bool { return name == "nexus" })
	delete(inv, "iam/oidc-provider") // of the cluster
	return inv
}

// standsAsDeclared fails the test for each resource that is missing from an account, and for each that should not be there.
func (e *estate) standsAsDeclared() {
	e.Helper()
	for _, account := range []string{homeAccount, productionAccount, stagingAccount} {
		want := map[string][]string{}
		for _, o := range e.objects {
			if placeOf(o).account == account {
				kind, name, _ := identified(o)
				want[kind] = append(want[kind], name)
			}
		}
		if difference := emulator.Diff(want, e.found(account)); difference != "" {
			e.Errorf("account %s is not as declared:\n%s", account, difference)
		}
	}
}

// leadsHome fails the test unless the status and the record of an object name the account and region of its provider.
func (e *estate) leadsHome(o v1alpha1.Resource) {
	e.Helper()
	p := placeOf(o)
	must(e.bed, 0, e.Get(o))
	if _, _, arn := identified(o); o.CommonStatus().ARN != arn {
		e.Errorf("%T %s: status.arn is %s, want %s", o, o.GetName(), o.CommonStatus().ARN, arn)
	}
	if home := o.GetAnnotations()["nexus.ai/home"]; home != "aws/"+p.account+"/"+p.region {
		e.Errorf("%T %s: its home is %q, want %s in %s", o, o.GetName(), home, p.account, p.region)
	}
}

// holdsItsOwn reads the resources of a place with the credentials of its account: what is named alike elsewhere is not the same.
func (e *estate) holdsItsOwn(p place) {
	e.Helper()
	cfg := e.in(p)
	parameter, err := ssm.NewFromConfig(cfg).GetParameter(e.Ctx(), &ssm.GetParameterInput{Name: aws.String("/orders/place")})
	if value := *must(e.bed, parameter, err).Parameter.Value; value != p.provider {
		e.Errorf("%v: the parameter is that of %s", p, value)
	}
	queues := sqs.NewFromConfig(cfg)
	queue, err := queues.GetQueueUrl(e.Ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String("orders")})
	tags, err := queues.ListQueueTags(e.Ctx(), &sqs.ListQueueTagsInput{QueueUrl: must(e.bed, queue, err).QueueUrl})
	if owner := must(e.bed, tags, err).Tags[wellknown.TagOwner]; owner != "SQSQueue/"+e.Namespace+"/orders-"+p.provider {
		e.Errorf("%v: the owner of the queue is %s", p, owner)
	}
	key, err := kms.NewFromConfig(cfg).DescribeKey(e.Ctx(), &kms.DescribeKeyInput{KeyId: aws.String("alias/orders")})
	if arn := *must(e.bed, key, err).KeyMetadata.Arn; arn != of[*v1alpha1.KMSKey](e, p.provider).Status.ARN {
		e.Errorf("%v: the alias is that of key %s", p, arn)
	}
	bucket, err := s3.NewFromConfig(cfg).HeadBucket(e.Ctx(), &s3.HeadBucketInput{Bucket: aws.String("example-orders-" + p.provider)})
	if region := *must(e.bed, bucket, err).BucketRegion; region != p.region {
		e.Errorf("%v: the bucket is in %s", p, region)
	}
}

// emptied fails the test unless nothing is left in any account but keys that wait for their deletion.
func (e *estate) emptied() {
	e.Helper()
	for _, p := range places {
		left := e.found(p.account)
		delete(left, "kms/key")
		if difference := emulator.Diff(nil, left); difference != "" {
			e.Errorf("left behind in account %s:\n%s", p.account, difference)
		}
		id := of[*v1alpha1.KMSKey](e, p.provider).Status.KeyID
		key, err := kms.NewFromConfig(e.in(p)).DescribeKey(e.Ctx(), &kms.DescribeKeyInput{KeyId: &id})
		if state := must(e.bed, key, err).KeyMetadata.KeyState; state != kmstypes.KeyStatePendingDeletion {
			e.Errorf("%v: key %s is %s", p, id, state)
		}
	}
}

// serviceCalls are the calls that do not only ask STS who one is or may be.
func serviceCalls(calls emulator.Calls) emulator.Calls {
	return calls.Filter(func(c emulator.Call) bool { return c.Service != "sts" })
}

// strays are the calls that were made with credentials of an account, or in a region of it, in which no provider of what the call
// names lives. Calls that name no object, because a name in AWS is the same everywhere, count by account and region alone.
func (e *estate) strays(calls emulator.Calls) (strays []string, named map[place]int) {
	named = map[place]int{}
	owner := regexp.MustCompile(`/` + e.Namespace + `/orders-([a-z-]+)`)
	for _, c := range serviceCalls(calls) {
		account := e.World.AWS().AccountOf(c.AccessKey)
		lives := func(p place) bool { return p.account == account && (p.region == c.Region || c.Service == "iam") }
		if !slices.ContainsFunc(places, lives) {
			strays = append(strays, fmt.Sprintf("%s in account %s, region %s", c.Label(), account, c.Region))
		}
		text, err := url.QueryUnescape(c.Body)
		if err != nil {
			text = c.Body
		}
		for _, p := range places {
			mentioned := c.Resource == "example-orders-"+p.provider || p.account != homeAccount && strings.Contains(text, p.account)
			if m := owner.FindStringSubmatch(text); m != nil {
				mentioned = mentioned || m[1] == p.provider
			}
			switch {
			case mentioned && p.account != account:
				strays = append(strays, fmt.Sprintf("%s about %s with credentials of account %s", c.Label(), p.provider, account))
			case mentioned && lives(p):
				named[p]++
			}
		}
	}
	return strays, named
}

// checked waits until every service was read for every place so often since a mark.
func (e *estate) checked(mark emulator.Mark, times int) {
	e.Helper()
	e.Eventually(30*time.Second, "every object to be checked", func() error {
		reads := map[string]int{}
		for _, c := range serviceCalls(e.World.AWS().Since(mark)).Reads() {
			reads[e.World.AWS().AccountOf(c.AccessKey)+" "+c.Region+" "+c.Service]++
		}
		for _, p := range places {
			for _, service := range []string{"s3", "sqs", "dynamodb", "ssm", "kms"} {
				if n := reads[p.account+" "+p.region+" "+service]; n < times {
					return fmt.Errorf("%v: %d reads of %s", p, n, service)
				}
			}
		}
		return nil
	})
}
