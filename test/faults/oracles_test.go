// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// Every oracle is a function of what was seen, and returns what is wrong with it; nothing is right.

// leaked compares what is in AWS with what should be.
func leaked(want, got map[string][]string) []string {
	if d := emulator.Diff(want, got); d != "" {
		return strings.Split(d, "\n")
	}
	return nil
}

// duplicates finds names that an inventory has twice.
func duplicates(inventory map[string][]string) []string {
	var out []string
	for kind, names := range inventory {
		seen := map[string]bool{}
		for _, n := range names {
			if seen[n] {
				out = append(out, "twice: "+kind+" "+n)
			}
			seen[n] = true
		}
	}
	return out
}

// differs compares two descriptions of a world by the names of what is in it.
func differs(want, got map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[k]; !ok {
			out = append(out, k+" is missing")
		} else if g != want[k] {
			at := 0
			for at < min(len(g), len(want[k])) && g[at] == want[k][at] {
				at++
			}
			at = max(0, at-80)
			out = append(out, fmt.Sprintf("%s differs:\n  want …%.400s\n  have …%.400s", k, want[k][at:], g[at:]))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			out = append(out, k+" should not be there")
		}
	}
	return out
}

// touched says which decoys were changed, and which writes were aimed at one.
func touched(before, after map[string]string, calls emulator.Calls) []string {
	out := differs(before, after)
	for _, c := range calls.Writes() {
		for decoy := range before {
			_, name, _ := strings.Cut(decoy, " ")
			if c.Resource == name || slices.Contains(strings.Split(c.Resource, ","), name) {
				out = append(out, "a write to a decoy: "+c.Address())
			}
		}
	}
	return out
}

// noisy says what was written while nothing had changed.
func noisy(aws emulator.Calls, kube kubeproxy.Calls) []string {
	var out []string
	for _, c := range aws.Writes() {
		out = append(out, "AWS write at rest: "+c.Address())
	}
	for _, c := range changes(kube) {
		out = append(out, "Kubernetes write at rest: "+c.Address()+" "+c.Body)
	}
	return out
}

// changes are the writes to objects: events are news, and reviews are questions.
func changes(calls kubeproxy.Calls) kubeproxy.Calls {
	return calls.Writes().Filter(func(c kubeproxy.Call) bool {
		return c.Resource != "events" && !strings.HasSuffix(c.Resource, "reviews") && c.Subresource != "token"
	})
}

// excessive reports whether a run took more AWS calls than a clean one and its faults account for, or asked
// the same too fast.
func excessive(calls emulator.Calls, clean, faults int) []string {
	var out []string
	if most := 2*clean + 3*faults; len(calls) > most {
		out = append(out, fmt.Sprintf("%d AWS calls, at most %d are accounted for (clean: %d, faults: %d)", len(calls), most, clean, faults))
	}
	return append(out, hot(calls)...)
}

// hotRate sets how often one question may be asked within a second: the looks of one pass, and a repetition.
const hotRate = 12

// hot finds calls that are made over and over.
func hot(calls emulator.Calls) []string {
	var out []string
	times := map[string][]time.Time{}
	for _, c := range calls {
		if c.Resource == "" {
			continue // asked for many objects
		}
		l := c.Label()
		times[l] = append(times[l], c.Start)
		if n := len(times[l]); n > hotRate && c.Start.Sub(times[l][n-1-hotRate]) < time.Second {
			out = append(out, fmt.Sprintf("%s more than %d times within a second", l, hotRate))
			times[l] = nil
		}
	}
	return out
}

// exposed finds secrets in places where they do not belong.
func exposed(secrets []string, places map[string]string) []string {
	var out []string
	for place, text := range places {
		for _, s := range secrets {
			if i := strings.Index(text, s); i >= 0 {
				out = append(out, fmt.Sprintf("a secret value stands in %s: …%s<value>", place, text[max(0, i-80):i]))
			}
		}
	}
	return out
}

// bodies returns what was sent to both APIs, but for the calls to Secrets Manager whose purpose a value is.
func bodies(aws emulator.Calls, kube kubeproxy.Calls) map[string]string {
	out := map[string]string{}
	for _, c := range aws {
		if c.Service != "secretsmanager" || !slices.Contains([]string{"CreateSecret", "PutSecretValue", "UpdateSecret"}, c.Op) {
			out["AWS call "+c.Address()] = c.Body
		}
	}
	for _, c := range kube {
		out["Kubernetes call "+c.Address()] = c.Body
	}
	return out
}

// thing is an object with the calls by which its resource is known in the ledger of AWS.
type thing struct {
	plural, key       string
	service, resource string
}

func (x thing) String() string { return x.plural + " " + x.key }

// thingOf tells what an object's resource is called in the ledger.
func thingOf(o v1alpha1.Resource) thing {
	t := thing{key: o.GetNamespace() + "/" + o.GetName()}
	switch o := o.(type) {
	case *v1alpha1.S3Bucket:
		t.plural, t.service, t.resource = "s3buckets", "s3", o.Spec.BucketName
	case *v1alpha1.DynamoDBTable:
		t.plural, t.service, t.resource = "dynamodbtables", "dynamodb", o.Spec.TableName
	case *v1alpha1.IAMRole:
		t.plural, t.service, t.resource = "iamroles", "iam", o.Spec.RoleName
	case *v1alpha1.GlueDatabase:
		t.plural, t.service, t.resource = "gluedatabases", "glue", o.Spec.DatabaseName
	case *v1alpha1.GlueCrawler:
		t.plural, t.service, t.resource = "gluecrawlers", "glue", o.Spec.CrawlerName
	case *v1alpha1.GlueTable:
		t.plural, t.service, t.resource = "gluetables", "glue", "*/"+o.Spec.TableName
	case *v1alpha1.SSMParameterSet:
		t.plural, t.service, t.resource = "ssmparametersets", "ssm", o.Spec.Path+"/*"
	case *v1alpha1.SecretsManagerSecret:
		t.plural, t.service, t.resource = "secretsmanagersecrets", "secretsmanager", o.Spec.SecretName
	case *v1alpha1.SQSQueue:
		t.plural, t.service, t.resource = "sqsqueues", "sqs", o.Spec.QueueName
	case *v1alpha1.SNSTopic:
		t.plural, t.service, t.resource = "snstopics", "sns", o.Spec.TopicName
	case *v1alpha1.KMSKey:
		t.plural, t.service, t.resource = "kmskeys", "kms", o.Status.ID
	case *v1alpha1.CognitoUserPool:
		t.plural, t.service, t.resource = "cognitouserpools", "cognito-idp", o.Status.UserPoolID
	}
	return t
}

func (x thing) about(calls emulator.Calls) emulator.Calls {
	return calls.Filter(func(c emulator.Call) bool { return c.Service == x.service && wire.Glob(x.resource, c.Resource) })
}

func (x thing) patches(calls kubeproxy.Calls) kubeproxy.Calls {
	return calls.Filter(func(c kubeproxy.Call) bool {
		return c.Resource == x.plural && c.Key() == x.key && c.Subresource == "" && c.Verb == "patch" && !c.Apply && c.Status == 200
	})
}

// hasty finds resources to which something was written before their object's finalizer was persisted.
func hasty(things []thing, aws emulator.Calls, kube kubeproxy.Calls) []string {
	var out []string
	for _, x := range things {
		writes := x.about(aws).Writes().Filter(func(c emulator.Call) bool { return c.Status != 0 })
		if len(writes) == 0 {
			continue
		}
		held := x.patches(kube).Filter(func(c kubeproxy.Call) bool { return strings.Contains(c.Body, `"finalizers":[`) })
		switch {
		case len(held) == 0:
			out = append(out, fmt.Sprintf("%s: %s without a finalizer ever written", x, writes[0].Address()))
		case !held[0].Start.Add(held[0].Duration).Before(writes[0].Start):
			out = append(out, fmt.Sprintf("%s: %s before its finalizer was persisted", x, writes[0].Address()))
		}
	}
	return out
}

// completes are the deletes that AWS has completed when it acknowledges them.
var completes = map[string]bool{"s3.DeleteBucket": true, "iam.DeleteRole": true, "glue.DeleteTable": true, "glue.DeleteDatabase": true,
	"glue.DeleteCrawler": true}

// unverified finds objects that were released although AWS had not said last that their resource is absent.
// It knows the kinds whose absence is an error answer, and the deletes that AWS completes before it answers.
func unverified(things []thing, aws emulator.Calls, kube kubeproxy.Calls) []string {
	var out []string
	for _, x := range things {
		freed := x.patches(kube).Filter(func(c kubeproxy.Call) bool { return strings.Contains(c.Body, `"finalizers":null`) })
		if len(freed) == 0 || !slices.Contains([]string{"s3", "dynamodb", "iam", "glue"}, x.service) {
			continue
		}
		var last *emulator.Call
		for _, c := range x.about(aws) {
			if c.Start.Before(freed[0].Start) && c.Status != 0 {
				last = &c
			}
		}
		switch {
		case last == nil:
			out = append(out, x.String()+": let go without a look at AWS")
		case completes[last.Service+"."+last.Op] && last.Status < 300:
		case last.Write || last.Status < 400:
			out = append(out, fmt.Sprintf("%s: let go after %s answered %d, which is no absence", x, last.Address(), last.Status))
		}
	}
	return out
}
