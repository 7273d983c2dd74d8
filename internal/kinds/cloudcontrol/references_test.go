// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

const (
	machine   = "AWS::StepFunctions::StateMachine"
	parameter = "AWS::SSM::Parameter"
	keyARN    = "arn:aws:kms:ap-southeast-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	adminRole = "arn:aws:iam::123456789012:role/admin"

	streamByKey = `{"Name":"events","StreamEncryption":{"EncryptionType":"KMS","KeyId":{"$ref":"KMSKey/events","field":"status.arn"}}}`
)

func TestReferences_GiveWhatTheStatusOfTheObjectHas(t *testing.T) {
	b := newBench(t, resourceOf(stream, streamByKey))
	_, err := b.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "KMSKey/events" || b.Rig.AWS.Calls().Writes().Count() > 0 {
		t.Fatalf("%v\n%s", err, b.Rig.AWS.Calls())
	}
	b.Targets = map[string]kind.Target{"KMSKey/events": {ID: "1234abcd", ARN: keyARN}}
	kindtest.Settled(t, b.Subject)
	if have := b.double.Properties(stream, "events")["StreamEncryption"].(map[string]any)["KeyId"]; have != keyARN {
		t.Errorf("%v", have)
	}
	if _, recorded := b.Intent.Refs["KMSKey/events"]; !recorded {
		t.Errorf("%+v", b.Intent)
	}
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}})
	b.Deleting, b.Targets = true, nil
	kindtest.Settled(t, b.Subject)
	if left := b.double.Identifiers(stream); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

func TestReferences_MayIdentifyTheResource(t *testing.T) {
	b := newBench(t, resourceOf(metricFilter, `{"FilterName":"errors","LogGroupName":{"$ref":"AWSResource/shop","field":"status.identifier"},"FilterPattern":"ERROR",
		"MetricTransformations":[{"MetricName":"errors","MetricNamespace":{"$ref":"AWSResource/shop","field":"status.properties.Space"},"MetricValue":"1"}]}`))
	b.Targets = map[string]kind.Target{"AWSResource/shop": {ID: "shop",
		Attributes: map[string]string{"identifier": "shop", "properties.Space": "metrics"}}}
	kindtest.Settled(t, b.Subject)
	id := b.resource().Status.ID
	if id != "shop|errors" ||
		b.double.Properties(metricFilter, id)["MetricTransformations"].([]any)[0].(map[string]any)["MetricNamespace"] != "metrics" {
		t.Errorf("%s", id)
	}
	b.Targets["AWSResource/shop"] = kind.Target{ID: "other",
		Attributes: map[string]string{"identifier": "other", "properties.Space": "metrics"}}
	b.stalls(status.ReasonIdentityChanged)
	b.Deleting, b.Targets = true, nil
	kindtest.Settled(t, b.Subject)
	if left := b.double.Identifiers(metricFilter); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

func TestReferences_ThatCannotBeReadAreRefused(t *testing.T) {
	for properties, says := range map[string]string{
		`{"Name":{"$ref":"KMSKey/events"}}`:                                                  "spec.properties.Name: is no reference",
		`{"Name":{"$ref":"team-b/KMSKey/events","field":"status.arn"}}`:                      "is no reference",
		`{"Name":{"$ref":"KMSKey/../events","field":"status.arn"}}`:                          "is no reference",
		`{"Name":{"$ref":"KMSKey/events","field":"status.arn","namespace":"team-b"}}`:        "is no reference",
		`{"Name":{"$ref":"KMSKey/events","field":"spec.alias"}}`:                             "is no reference",
		`{"Name":{"$ref":7,"field":"status.arn"}}`:                                           "is no reference",
		`{"Name":{"$ref":"KMSKey/events","field":"status.conditions"}}`:                      "these can: status.arn, status.id",
		`{"Name":"a","Tags":[{"Key":"a","Value":{"$secret":"login"}}]}`:                      "spec.properties.Tags[0].Value: names no key of a Secret",
		`{"Name":{"$secret":"login","key":"password"}}`:                                      "identifies the resource",
		`{"Name":"a","StreamEncryption":{"$secret":"login","key":"k","namespace":"team-b"}}`: "names no key of a Secret",
		`{"$ref":"KMSKey/events","field":"status.arn"}`:                                      "has to be an object",
	} {
		b := newBench(t, resourceOf(stream, properties))
		b.Targets = map[string]kind.Target{"KMSKey/events": {ID: "1234abcd", ARN: keyARN}}
		b.Secrets = map[string]string{"login/password": "hunter22", "login/k": "x"}
		if message := b.stalls(status.ReasonInvalidSpec); !strings.Contains(message, says) || strings.Contains(message, "hunter22") {
			t.Errorf("%s: %s", properties, message)
		}
		if w := b.Rig.AWS.Calls().Writes(); len(w) > 0 {
			t.Errorf("%s:\n%s", properties, w)
		}
	}
}

// The schema gives the type of the resource that the key of a stream names. The kind KMSKey has keys; objects of the kind AWSResource have
// any type.
func TestReferences_NameAResourceOfTheTypeThatTheSchemaNames(t *testing.T) {
	const at, remedy = "spec.properties.StreamEncryption.KeyId: names a resource of type AWS::KMS::Key",
		"refer to KMSKey or an AWSResource of that type, or declare the value"
	for name, c := range map[string]struct {
		reference string
		says      []string // none: it is accepted
		exists    bool
	}{
		"a key":                    {reference: `{"$ref":"KMSKey/a","field":"status.arn"}`, exists: true},
		"a key of the kind of all": {reference: `{"$ref":"AWSResource/key","field":"status.arn"}`, exists: true},
		"a bucket": {`{"$ref":"S3Bucket/a","field":"status.arn"}`,
			[]string{at, "S3Bucket/a has no such resource", remedy}, true},
		"a bucket that does not exist": {`{"$ref":"S3Bucket/b","field":"status.arn"}`, []string{at, "S3Bucket/b has no such resource", remedy},
			false},
		"a stream of the kind of all": {`{"$ref":"AWSResource/a","field":"status.properties.Arn"}`,
			[]string{at, "AWSResource/a is of type AWS::Kinesis::Stream", remedy}, true},
		"a Secret": {`{"$secret":"login","key":"password"}`,
			[]string{at, "cannot be in a Secret", "refer to the object with $ref"}, true},
		"a Secret that does not exist": {`{"$secret":"other","key":"password"}`, []string{at, "cannot be in a Secret"}, false},
		"an object of an unknown type": {reference: `{"$ref":"AWSResource/planned","field":"status.arn"}`, exists: true},
		"a key by its ARN":             {reference: `"` + keyARN + `"`},
	} {
		b := newBench(t, resourceOf(stream, `{"Name":"events","StreamEncryption":{"EncryptionType":"KMS","KeyId":`+c.reference+`}}`))
		b.Types = &kind.AllowedTypes{Operator: []string{stream},
			Kinds: map[string]string{"AWS::KMS::Key": "KMSKey", "AWS::S3::Bucket": "S3Bucket"}}
		b.Secrets = map[string]string{"login/password": "alias/shop"}
		b.Targets = map[string]kind.Target{
			"KMSKey/a": {ID: "1234abcd", ARN: keyARN}, "AWSResource/key": {ID: "1234abcd", ARN: keyARN, Type: "AWS::KMS::Key"},
			"S3Bucket/a": {ID: "a", ARN: "arn:aws:s3:::a"}, "AWSResource/planned": {ID: "1234abcd", ARN: keyARN},
			"AWSResource/a": {ID: "a", ARN: "arn:aws:kinesis:ap-southeast-1:123456789012:stream/a", Type: stream,
				Attributes: map[string]string{"properties.Arn": "arn:aws:kinesis:ap-southeast-1:123456789012:stream/a"}},
		}
		_, err := b.Settle(t.Context(), nil)
		s, refused := status.AsStalled(err)
		if refused != (c.says != nil) || refused && s.Reason != status.ReasonInvalidSpec || err != nil && !refused {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, words := range c.says {
			if !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "alias/shop") {
				t.Errorf("%s: %v does not say %s", name, err, words)
			}
		}
		if w := b.Rig.AWS.Calls().Writes().Count(); refused && w > 0 {
			t.Errorf("%s: %d writes", name, w)
		}
	}
}

// An object of an earlier release may refer to a resource of another type, and can be deleted nevertheless.
func TestReferences_OfAnotherTypeDoNotHoldADeletion(t *testing.T) {
	b := newBench(t, resourceOf(stream,
		`{"Name":{"$ref":"AWSResource/a","field":"status.id"},"StreamEncryption":{"EncryptionType":"KMS","KeyId":{"$ref":"AWSResource/a","field":"status.arn"}}}`))
	b.Targets = map[string]kind.Target{"AWSResource/a": {ID: "a", ARN: keyARN}}
	kindtest.Settled(t, b.Subject)
	b.Targets = map[string]kind.Target{"AWSResource/a": {ID: "a", ARN: keyARN, Type: stream}}
	b.stalls(status.ReasonInvalidSpec)
	b.Deleting = true
	kindtest.Settled(t, b.Subject)
	if left := b.double.Identifiers(stream); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// A property may hold a JSON schema, which refers to its own parts.
func TestReferences_OfJSONSchemasAreLeftAlone(t *testing.T) {
	const definition = `{"StartAt":{"$ref":"#/definitions/State"},"Other":{"$ref":"https://example.com/schema.json"}}`
	b := newBench(t, resourceOf(machine, `{"RoleArn":{"$ref":"IAMRole/worker","field":"status.arn"},"Definition":`+definition+`}`))
	b.Targets = map[string]kind.Target{"IAMRole/worker": {ID: "worker", ARN: "arn:aws:iam::123456789012:role/worker"}}
	kindtest.Settled(t, b.Subject)
	have, err := json.Marshal(b.double.Properties(machine, b.resource().Status.ID)["Definition"])
	kindtest.Must(t, err)
	var got, want any
	kindtest.Must(t, json.Unmarshal(have, &got))
	kindtest.Must(t, json.Unmarshal([]byte(definition), &want))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s", have)
	}
}

// A resource shows ARNs of others, and no one has checked the owners of these.
func TestReferences_ToAnAWSResourceGiveItsOwnARN(t *testing.T) {
	const own = "arn:aws:kinesis:ap-southeast-1:123456789012:stream/a"
	for arn, refused := range map[string]bool{own: false, own + "/consumer/b": false, own + "b": true, keyARN: true, "alias/a": false} {
		b := newBench(t, resourceOf(parameter,
			`{"Name":"/shop/stream","Type":"String","Value":{"$ref":"AWSResource/a","field":"status.properties.Arn"}}`))
		b.Targets = map[string]kind.Target{"AWSResource/a": {ID: "a", ARN: own, Attributes: map[string]string{"properties.Arn": arn}}}
		_, err := b.Settle(t.Context(), nil)
		if s, ok := status.AsStalled(err); ok != refused || refused &&
			(s.Reason != status.ReasonNotPermitted || s.Field != "spec.properties.Value") || err != nil && !ok {
			t.Errorf("%s: %v", arn, err)
		}
	}
}

// The object of a role was judged. No other reference brings a role along that the provider does not let be passed.
func TestReferences_SmuggleNoRole(t *testing.T) {
	of := func(role string) string { return `{"DefinitionString":"{}","RoleArn":` + role + `}` }
	for name, c := range map[string]struct {
		properties, reason string
	}{
		"an IAMRole":                  {of(`{"$ref":"IAMRole/worker","field":"status.arn"}`), ""},
		"another resource's identity": {of(`{"$ref":"AWSResource/observed","field":"status.arn"}`), status.ReasonNotPermitted},
		"what AWS assigned to one":    {of(`{"$ref":"AWSResource/observed","field":"status.properties.Role"}`), status.ReasonNotPermitted},
		"a name":                      {of(`{"$ref":"AWSResource/observed","field":"status.id"}`), status.ReasonNotPermitted},
		"a Secret":                    {of(`{"$secret":"login","key":"role"}`), status.ReasonNotPermitted},
		"a Secret with a name":        {of(`{"$secret":"login","key":"name"}`), status.ReasonNotPermitted},
		"a Secret with a document":    {`{"RoleArn":{"$ref":"IAMRole/worker","field":"status.arn"},"DefinitionString":{"$secret":"login","key":"document"}}`, status.ReasonNotPermitted},
		"a Secret with escapes":       {`{"RoleArn":{"$ref":"IAMRole/worker","field":"status.arn"},"DefinitionString":{"$secret":"login","key":"escaped"}}`, status.ReasonNotPermitted},
		"a Secret with another ARN":   {`{"RoleArn":{"$ref":"IAMRole/worker","field":"status.arn"},"DefinitionString":{"$secret":"login","key":"queue"}}`, status.ReasonNotPermitted},
	} {
		b := newBench(t, resourceOf(machine, c.properties))
		b.RolePath = "/team/"
		b.Targets = map[string]kind.Target{
			"IAMRole/worker":       {ID: "worker", ARN: "arn:aws:iam::123456789012:role/worker"},
			"AWSResource/observed": {ID: "admin", ARN: adminRole, Attributes: map[string]string{"properties.Role": adminRole}},
		}
		b.Secrets = map[string]string{"login/role": adminRole, "login/name": "admin", "login/document": `{"Role": "` + adminRole + `"}`,
			"login/escaped": `{"Role": "` + strings.Replace(adminRole, "/", `\/`, 1) + `"}`,
			"login/queue":   "arn:aws:sqs:ap-southeast-1:123456789012:finance"}
		_, err := b.Settle(t.Context(), nil)
		s, refused := status.AsStalled(err)
		if refused != (c.reason != "") || refused &&
			(s.Reason != c.reason || strings.HasPrefix(name, "a Secret") && strings.Contains(s.Error(), "admin")) || err != nil && !refused {
			t.Errorf("%s: %v", name, err)
		}
		if w := b.Rig.AWS.Calls().Writes().Count(); refused && w > 0 {
			t.Errorf("%s: %d writes", name, w)
		}
	}
}

// AWS shows the value of a parameter, and no status, plan or message of the operator does.
func TestSecrets_AreShownNowhere(t *testing.T) {
	const value, next = "hunter22-of-the-shop", "correct-horse"
	of := func(value string) string { return `{"Name":"/shop/login","Type":"String","Value":` + value + `}` }
	b := newBench(t, resourceOf(parameter, of(`{"$secret":"login","key":"password"}`)))
	if message := b.stalls(status.ReasonCredentialsMissing); !strings.Contains(message, "login/password") {
		t.Error(message)
	}
	b.Secrets = map[string]string{"login/password": value}
	hides := func(what string, shown any) {
		t.Helper()
		text, err := json.Marshal(shown)
		kindtest.Must(t, err)
		if strings.Contains(fmt.Sprintf("%s %+v", text, shown), value) || strings.Contains(string(text), next) {
			t.Errorf("%s: %s", what, text)
		}
	}
	decide := func(what string) {
		t.Helper()
		p, err := b.Decide(t.Context())
		hides(what, []any{p.Diff, fmt.Sprint(err), p.Written.Paths, p.Written.Hidden, p.Written.Versions})
	}
	b.double.Fail("CREATE", double.Failure{Code: "InvalidRequest", Message: "Value " + value + " is refused"})
	decide("the plan of a create")
	hides("a failure", b.stalls(status.ReasonRefusedByAWS))
	kindtest.Settled(t, b.Subject)
	if have := b.double.Properties(parameter, "/shop/login")["Value"]; have != value {
		t.Fatalf("%v", have)
	}
	hides("the status", b.resource().Status)
	hides("the record", b.Intent)
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}})
	b.Secrets["login/password"] = next
	decide("the plan of a rotation")
	kindtest.Settled(t, b.Subject)
	if have := b.double.Properties(parameter, "/shop/login")["Value"]; have != next {
		t.Fatalf("%v", have)
	}
	b.edit(of(`"plain"`))
	p, err := b.Decide(t.Context())
	if err != nil || len(p.Diff) != 1 || p.Diff[0].Have != "***" || p.Diff[0].Want != "plain" {
		t.Errorf("%+v %v", p.Diff, err)
	}
	kindtest.Settled(t, b.Subject)
	if have := b.double.Properties(parameter, "/shop/login")["Value"]; have != "plain" {
		t.Errorf("%v", have)
	}
}

// The version of a secret is recorded after AWS has it, and the operator may die between.
func TestSecrets_AreHiddenAfterACrash(t *testing.T) {
	const value = "hunter22-of-the-shop"
	of := func(value string) string { return `{"Name":"/shop/login","Type":"String","Value":` + value + `}` }
	b := newBench(t, resourceOf(parameter, of(`{"$secret":"login","key":"password"}`)))
	b.Secrets = map[string]string{"login/password": value}
	if _, err := b.Pass(t.Context(), func() bool { return true }); err == nil ||
		b.double.Properties(parameter, "/shop/login")["Value"] != value {
		t.Fatal("the operator was not killed after its write")
	}
	b.edit(of(`"plain"`))
	if p, err := b.Decide(t.Context()); err != nil || len(p.Diff) != 1 || p.Diff[0].Have != "***" {
		t.Errorf("%+v %v", p.Diff, err)
	}
}

func TestSecrets_AreNoMoreThanTheStatusHolds(t *testing.T) {
	entries := make([]string, maxSecrets+1)
	for i := range entries {
		entries[i] = `{"Cidr":"192.0.2.0/24","Description":{"$secret":"login","key":"password"}}`
	}
	b := newBench(t, resourceOf(prefixList, `{"PrefixListName":"office","AddressFamily":"IPv4","MaxEntries":20,"Entries":[`+
		strings.Join(entries, ",")+`]}`))
	b.Secrets = map[string]string{"login/password": "hunter22"}
	if message := b.stalls(status.ReasonInvalidSpec); !strings.Contains(message, "at most 16") {
		t.Error(message)
	}
}

func TestSecrets_InListsAreWrittenWithTheirList(t *testing.T) {
	of := func(cidr string) string {
		return `{"PrefixListName":"office","AddressFamily":"IPv4","MaxEntries":5,"Entries":[{"Cidr":"` + cidr +
			`","Description":{"$secret":"login","key":"password"}},{"Cidr":"198.51.100.0/24","Description":"plain"}]}`
	}
	b := newBench(t, resourceOf(prefixList, of("192.0.2.0/24")))
	b.Secrets = map[string]string{"login/password": "hunter22"}
	kindtest.Settled(t, b.Subject)
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "a look", Calls: calls{"GetResource": 1}})
	b.edit(of("203.0.113.0/24"))
	if p, err := b.Decide(t.Context()); err != nil || len(p.Diff) != 1 || strings.Contains(fmt.Sprint(p.Diff), "hunter22") {
		t.Errorf("%+v %v", p.Diff, err)
	}
	kindtest.Settled(t, b.Subject)
	have := fmt.Sprint(b.double.Properties(prefixList, b.resource().Status.ID)["Entries"])
	if !strings.Contains(have, "hunter22") || !strings.Contains(have, "203.0.113.0") {
		t.Errorf("%s", have)
	}
}
