// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// edits is a capability whose declaration changes at random.
type edits struct {
	*tool
	c   *nexusv1.NexusAICapability
	rnd *rand.Rand
	// args ask for a plan of a manifest.
	args []string
}

// planEdits are edits that a person may make, each of which draws what it sets.
var planEdits = []struct {
	name string
	make func(e *edits, s *nexusv1.NexusAICapabilitySpec) string
}{
	{"the backend", (*edits).backend},
	{"the frontend", (*edits).frontend},
	{"tables and buckets", (*edits).stores},
	{"queues and topics", (*edits).messaging},
	{"the catalog", (*edits).catalog},
	{"the key", (*edits).key},
	{"secrets", (*edits).secrets},
	{"models", (*edits).models},
	{"sign-in", (*edits).signIn},
	{"the ingress", (*edits).ingress},
	{"components", (*edits).components},
	{"access", (*edits).access},
	{"policies", (*edits).policies},
	{"the deletion policy", (*edits).policy},
}

func (e *edits) some(pool ...string) []string {
	e.rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	out := pool[:e.rnd.IntN(len(pool)+1)]
	slices.Sort(out)
	return out
}

func (e *edits) isOn() bool { return e.rnd.IntN(2) == 0 }

func (e *edits) backend(s *nexusv1.NexusAICapabilitySpec) string {
	level, replicas, scaled := fmt.Sprint("level-", e.rnd.IntN(3)), int32(1+e.rnd.IntN(3)), e.isOn()
	s.Backend.Env, s.Backend.Replicas = []nexusv1.EnvVar{{Name: "LOG_LEVEL", Value: level}}, &replicas
	if s.Backend.Autoscaling = nil; scaled {
		s.Backend.Autoscaling = &nexusv1.AutoscalingSpec{Max: 4}
	}
	return fmt.Sprint(level, ", ", replicas, " replicas, scaled ", scaled)
}

func (e *edits) frontend(s *nexusv1.NexusAICapabilitySpec) string {
	tag, balanced := fmt.Sprint(e.rnd.IntN(3)), e.isOn()
	s.Version, s.Frontend.Image = tag, "registry.example/frontend:"+tag
	if s.Frontend.Service = nil; balanced {
		s.Frontend.Service = &nexusv1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, Annotations: map[string]nexusv1.AnnotationValue{"example.com/team": "a"},
		}
	}
	return fmt.Sprint(tag, ", annotated ", balanced)
}

func (e *edits) stores(s *nexusv1.NexusAICapabilitySpec) string {
	tables, buckets := e.some("one", "two", "three"), e.some("notes", "logs")
	s.DataServices.DynamoDB, s.DataServices.S3 = nil, &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "call-data"}}}
	for _, name := range tables {
		if s.DataServices.DynamoDB == nil {
			s.DataServices.DynamoDB = &nexusv1.DynamoDBSpec{}
		}
		s.DataServices.DynamoDB.Tables = append(s.DataServices.DynamoDB.Tables, nexusv1.TableSpec{Name: name})
	}
	for _, name := range buckets {
		s.DataServices.S3.Buckets = append(s.DataServices.S3.Buckets, nexusv1.BucketSpec{Name: name})
	}
	return fmt.Sprint(tables, buckets)
}

func (e *edits) messaging(s *nexusv1.NexusAICapabilitySpec) string {
	// SQS does not give the name of a deleted queue again for a minute, so that queues only come.
	dead, timeout, topics := e.isOn(), int32(30+e.rnd.IntN(3)), e.some("news", "alarms")
	q := nexusv1.QueueSpec{Name: "jobs", VisibilityTimeoutSeconds: &timeout}
	had := slices.ContainsFunc(s.DataServices.Queues, func(q nexusv1.QueueSpec) bool { return q.DeadLetter != nil })
	if dead || had {
		q.DeadLetter = &nexusv1.DeadLetterSpec{}
	}
	s.DataServices.Queues, s.DataServices.Topics = []nexusv1.QueueSpec{q}, nil
	for _, name := range topics {
		s.DataServices.Topics = append(s.DataServices.Topics, nexusv1.TopicSpec{Name: name, SubscribeQueues: []nexusv1.QueueName{"jobs"}})
	}
	return fmt.Sprint(topics, ", dead letters ", dead, ", ", timeout, " s")
}

func (e *edits) catalog(s *nexusv1.NexusAICapabilitySpec) string {
	on, crawler := e.isOn(), e.isOn()
	if s.DataServices.Glue = nil; on {
		s.DataServices.Glue = &nexusv1.GlueSpec{Crawler: &nexusv1.CrawlerSpec{Enabled: &crawler}}
	}
	return fmt.Sprint(on, ", crawler ", crawler)
}

// key has the stores encrypted from then on: a key is given up only by a person who names it.
func (e *edits) key(s *nexusv1.NexusAICapabilitySpec) string {
	rotation := e.isOn()
	s.DataServices.KMS = &nexusv1.KMSSpec{Rotation: &rotation}
	return fmt.Sprint("rotation ", rotation)
}

func (e *edits) secrets(s *nexusv1.NexusAICapabilitySpec) string {
	names, defaults := e.some("extra", "more"), e.isOn()
	s.Secrets, s.DefaultSecrets = nil, nexusv1.DefaultSecretsNone
	if defaults {
		s.DefaultSecrets = nexusv1.DefaultSecretsAll
	}
	for _, name := range names {
		s.Secrets = append(s.Secrets, nexusv1.SecretSpec{Name: name, Generate: &nexusv1.GenerateSpec{Keys: []nexusv1.SecretKey{"key"}}})
	}
	return fmt.Sprint(names, ", the default ones ", defaults)
}

func (e *edits) models(s *nexusv1.NexusAICapabilitySpec) string {
	names := e.some("chat", "embed")
	s.DataServices.Bedrock = nil
	for _, name := range names {
		if s.DataServices.Bedrock == nil {
			s.DataServices.Bedrock = &nexusv1.BedrockSpec{Region: "us-east-1"}
		}
		s.DataServices.Bedrock.Models = append(s.DataServices.Bedrock.Models, nexusv1.BedrockModel{Name: name, ModelID: "amazon.nova-lite-v1:0"})
	}
	return fmt.Sprint(names)
}

func (e *edits) signIn(s *nexusv1.NexusAICapabilitySpec) string {
	on, port := e.isOn(), 3000+e.rnd.IntN(3)
	if s.EnableCognito, s.Cognito = on, nil; on {
		s.Cognito = &nexusv1.CognitoSpec{CallbackURLs: []nexusv1.SignInURL{nexusv1.SignInURL(fmt.Sprintf("http://localhost:%d/callback", port))}}
	}
	return fmt.Sprint(on, ", port ", port)
}

func (e *edits) ingress(s *nexusv1.NexusAICapabilitySpec) string {
	on, path := e.isOn(), fmt.Sprint("/health-", e.rnd.IntN(2))
	s.Ingress = &nexusv1.IngressSpec{Enabled: &on, HealthCheckPath: path}
	return fmt.Sprint(on, ", ", path)
}

func (e *edits) components(s *nexusv1.NexusAICapabilitySpec) string {
	names, tag := e.some("worker", "nightly"), fmt.Sprint(e.rnd.IntN(2))
	s.Components = nil
	for _, name := range names {
		c := nexusv1.NamedComponentSpec{Name: name, Type: nexusv1.ComponentWorker}
		c.Image = "registry.example/" + name + ":" + tag
		if name == "nightly" {
			c.Type, c.Schedule = nexusv1.ComponentCronJob, "15 3 * * *"
		}
		s.Components = append(s.Components, c)
	}
	return fmt.Sprint(names, ", tag ", tag)
}

func (e *edits) access(s *nexusv1.NexusAICapabilitySpec) string {
	names := e.some("s3/call-data", "secrets/openai")
	if s.Frontend.Access = nil; s.DefaultSecrets == nexusv1.DefaultSecretsNone {
		return "the frontend's, to everything"
	}
	s.Frontend.Access = &[]nexusv1.AccessName{}
	for _, name := range names {
		*s.Frontend.Access = append(*s.Frontend.Access, nexusv1.AccessName(name))
	}
	return fmt.Sprint("the frontend's, to ", names)
}

func (e *edits) policies(s *nexusv1.NexusAICapabilitySpec) string {
	bound := []nexusv1.Component{"", nexusv1.ComponentBackend, nexusv1.ComponentFrontend}[e.rnd.IntN(3)]
	if s.Security = nil; !e.isOn() {
		return "none"
	}
	s.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "edited-dns", Component: bound}}}
	return fmt.Sprintf("of %q", bound)
}

func (e *edits) policy(s *nexusv1.NexusAICapabilitySpec) string {
	s.DeletionPolicy = []nexusv1.DeletionPolicy{nexusv1.DeletionDelete, nexusv1.DeletionRetain}[e.rnd.IntN(2)]
	return string(s.DeletionPolicy)
}

// planned are the writes of a plan to other objects than the capability, by kind and name.
func (x *tool) planned(items []item) map[string]string {
	out := map[string]string{}
	for _, it := range items {
		if it.Action != "None" && it.Kind != "NexusAICapability" {
			out[it.title()] = it.Action
		}
	}
	return out
}

// gone waits until the objects that a plan deletes are gone. The garbage collector deletes what bindings own.
func (x *tool) gone(items []item) {
	x.Helper()
	for _, it := range items {
		if it.Action != "Delete" {
			continue
		}
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(it.APIVersion)
		u.SetKind(it.Kind)
		u.SetNamespace(it.Namespace)
		u.SetName(it.Name)
		x.Gone(u)
	}
}

// collected are the policies that the garbage collector deleted since a mark.
func (x *tool) collected(mark world.AuditMark) []world.AuditEvent {
	x.Helper()
	all, err := x.World.Audit().Since(mark, world.AuditFilter{UserAgent: "kube-controller-manager", Writes: true})
	if err != nil {
		x.Fatal(err)
	}
	return slices.DeleteFunc(all, func(e world.AuditEvent) bool {
		return e.Verb != "delete" || !slices.Contains([]string{"nimbuspolicies", "networkpolicies"}, e.Resource)
	})
}

// made are the writes of the operator to other objects than capabilities since a mark, by kind and name: applies and deletions, also those
// that follow from its own. What it writes into metadata and status of what it applied is no part of a plan.
func (x *tool) made(mark world.AuditMark) map[string]string {
	x.Helper()
	out := map[string]string{}
	for _, w := range append(x.KubeWrites(mark), x.collected(mark)...) {
		isOwn := w.Resource == "secrets" || w.Resource == "leases" // of the operator, and of no capability
		if w.Subresource != "" || w.Code >= http.StatusBadRequest || isOwn {
			continue
		}
		change := x.changeOf(w)
		if change == "" {
			continue
		}
		kind, err := x.Client.RESTMapper().KindFor(schema.GroupVersionResource{Group: w.Group, Resource: w.Resource})
		if err != nil {
			x.Fatal(err)
		}
		if kind.Kind == "NexusAICapability" {
			continue
		}
		title := kind.Kind + "/" + w.Name
		switch was := out[title]; {
		case was == "Create" && change == "Update":
		case was == "Delete" && change == "Create": // such as a Job, which is replaced
			out[title] = "Update"
		default:
			out[title] = change
		}
	}
	return out
}

func (x *tool) changeOf(w world.AuditEvent) string {
	u, err := url.Parse(w.URI)
	if err != nil {
		x.Fatal(err)
	}
	switch {
	case w.Verb == "delete":
		return "Delete"
	case w.Code == http.StatusCreated:
		return "Create"
	case w.Verb == "patch" && u.Query().Get("force") == "true", !strings.HasSuffix(w.Group, ".codes") && !strings.HasSuffix(w.Group, ".com"):
		return "Update"
	default:
		return ""
	}
}

// step makes some random edits in one, and compares what the operator does with the plan of it.
func (e *edits) step(number int) {
	e.Helper()
	next := e.c.DeepCopy()
	var drawn []string
	for range 1 + e.rnd.IntN(3) {
		x := planEdits[e.rnd.IntN(len(planEdits))]
		drawn = append(drawn, x.name+": "+x.make(e, &next.Spec))
	}
	if next.Spec.DefaultSecrets == nexusv1.DefaultSecretsNone {
		next.Spec.Frontend.Access = nil
	}
	what := fmt.Sprintf("edit %d, %s", number, strings.Join(drawn, "; "))
	e.Log(what)
	items := e.plan(e.manifest(next), e.args...)
	waiting := e.waiting(what, items)
	calls, writes := e.Mark()
	e.apply(e.manifest(next))
	e.c.Spec = next.Spec
	if err := e.Get(e.c); err != nil {
		e.Fatal(err)
	}
	e.Running(e.c)
	e.gone(items)
	e.Quiet()
	e.compareCalls(what, callsOf(items), e.acceptedSince(calls), len(waiting) > 0)
	e.sameWrites(what, items, e.made(writes), waiting)
	e.unchanged(e.manifest(e.c), e.args...)
}

// waiting are the objects that a plan does not know, because they need what AWS is yet to assign to another, or their deletion waits for
// that of others. There is no other reason to wait, and no problem.
func (e *edits) waiting(what string, items []item) map[string]bool {
	e.Helper()
	out := map[string]bool{}
	for _, it := range items {
		switch {
		case it.Problem != nil, it.Waits != "" && it.Action != "Delete" && !strings.HasSuffix(it.Waits, " to be ready"):
			e.Fatalf("%s: %s waits for %q, %+v", what, it.title(), it.Waits, it.Problem)
		case it.Waits != "":
			out[it.title()] = true
		}
	}
	return out
}

// compareCalls wants the calls of a plan to be those that were made, or some of these where the plan is not complete.
func (x *tool) compareCalls(what string, planned, made map[string]int, incomplete bool) {
	x.Helper()
	for action := range maps.Keys(made) {
		if incomplete && made[action] > planned[action] {
			made[action] = planned[action]
		}
	}
	maps.DeleteFunc(made, func(_ string, n int) bool { return n == 0 })
	if !maps.Equal(planned, made) {
		x.Errorf("%s: planned calls\n%v\nmade\n%v", what, onlyIn(planned, made), onlyIn(made, planned))
	}
}

// acceptedSince counts the writes since a mark that AWS did not refuse. A resource that is kept, or a secret that is deleted, is found by a
// refused create. That of a secret with the placeholder that it has already is accepted, and changes nothing:
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html
func (x *tool) acceptedSince(mark emulator.Mark) map[string]int {
	out, existing := map[string]int{}, map[string]bool{}
	for _, c := range x.World.AWS().Since(0).Writes() {
		switch accepted := c.Endpoint != x.aws.Name() && c.Status < http.StatusBadRequest; {
		case !accepted, c.Op == "CreateSecret" && existing[c.Resource]:
		case emulator.Mark(c.Seq) > mark:
			out[c.Action()]++
		}
		existing[c.Resource] = existing[c.Resource] || c.Op == "CreateSecret"
	}
	return out
}

// sameWrites compares the writes of a plan with those that the operator then made, but for objects that the plan does not know.
func (x *tool) sameWrites(what string, items []item, made map[string]string, unknown map[string]bool) {
	x.Helper()
	planned := x.planned(items)
	isUnknown := func(title, _ string) bool { return unknown[title] }
	maps.DeleteFunc(planned, isUnknown)
	maps.DeleteFunc(made, isUnknown)
	if !maps.Equal(planned, made) {
		x.Errorf("%s: planned writes\n%v\nmade\n%v", what, onlyIn(planned, made), onlyIn(made, planned))
	}
}

// onlyIn are the entries of a map that another does not have.
func onlyIn[V comparable](in, other map[string]V) map[string]V {
	out := maps.Clone(in)
	maps.DeleteFunc(out, func(k string, v V) bool { return other[k] == v })
	return out
}

// makeBoundary makes a policy that bounds nothing.
func (x *tool) makeBoundary(name string) {
	x.Helper()
	api := iam.NewFromConfig(aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(x.World.AWS().URL()), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	if _, err := api.CreatePolicy(x.Ctx(), &iam.CreatePolicyInput{PolicyName: &name,
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)}); err != nil {
		x.Fatal(err)
	}
}

// A plan says what the operator does: over random edits of a capability, the calls of AWS in the ledger and the writes in the
// audit log of the API server are those of the plan.
func TestPlan_IsWhatFollowsFromAnyEdit(t *testing.T) {
	extent.Full(t)
	flag := "--default-permissions-boundary=arn:aws:iam::123456789012:policy/nexus-boundary"
	x := newTool(t, "--check-interval=1h", flag)
	x.makeBoundary("nexus-boundary")
	seed := uint64(1)
	if text := os.Getenv("NEXUS_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	e := &edits{
		tool: x, args: []string{"-f", "-", "--operator-arg=" + flag},
		rnd: rand.New(rand.NewPCG(seed, 0)), c: x.Capability("examples/test-capability.yaml"),
	}
	e.c.Name, e.c.Namespace, e.c.Spec.CapabilityName = "edited-dev", "edited-dev", "edited"
	x.MakeNamespace(e.c.Namespace)
	x.Create(x.intentOf("edited-dns", "dnsManipulation", intentv1alpha1.Params{"otherEgress": {"allow"}}))
	e.c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "call-data"}}}}
	x.Create(e.c)
	x.Running(e.c)
	x.Quiet()
	for i := range 12 {
		e.step(i)
	}
}
