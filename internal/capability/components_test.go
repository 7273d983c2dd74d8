// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// componentEdit changes a component, or adds one.
type componentEdit = func(*nexusv1.NexusAICapability)

func components(edits ...componentEdit) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		for _, e := range edits {
			e(c)
		}
	}
}

// aService adds a component of a name.
func aService(name string) componentEdit { return with(name) }

// with adds a component with changes.
func with(name string, changes ...func(*nexusv1.NamedComponentSpec)) componentEdit {
	return func(c *nexusv1.NexusAICapability) {
		n := nexusv1.NamedComponentSpec{Name: name, ComponentSpec: nexusv1.ComponentSpec{Image: "component:1"}}
		for _, change := range changes {
			change(&n)
		}
		c.Spec.Components = append(c.Spec.Components, n)
	}
}

// worker adds a Worker with changes.
func worker(name string, changes ...func(*nexusv1.NamedComponentSpec)) componentEdit {
	return with(name, append(changes, func(n *nexusv1.NamedComponentSpec) { n.Type = nexusv1.ComponentWorker })...)
}

func routes(list ...string) *[]nexusv1.Route {
	out := []nexusv1.Route{}
	for _, p := range list {
		out = append(out, nexusv1.Route{Path: p})
	}
	return &out
}

func paths(list ...string) func(*nexusv1.NamedComponentSpec) {
	return func(n *nexusv1.NamedComponentSpec) { n.Routes = routes(list...) }
}

func access(names ...nexusv1.AccessName) func(*nexusv1.NamedComponentSpec) {
	return func(n *nexusv1.NamedComponentSpec) { n.Access = &names }
}

// only leaves the components as they are edited, without frontend and backend.
func only(edits ...componentEdit) *nexusv1.NexusAICapability {
	return minimal(append([]componentEdit{func(c *nexusv1.NexusAICapability) {
		c.Spec.Frontend, c.Spec.Backend = nexusv1.FrontendSpec{}, nexusv1.BackendSpec{}
	}}, edits...)...)
}

func TestComponents_CompileToExactlyTheseObjects(t *testing.T) {
	for _, file := range []string{"capability-with-components.yaml", "batch-worker.yaml", "capability-with-jobs.yaml"} {
		t.Run(file, func(t *testing.T) {
			golden.Check(t, file, print(t, compile(t, example(t, file), facts())))
		})
	}
	with := example(t, "capability-with-components.yaml")
	with.Spec.Ingress = &nexusv1.IngressSpec{Gateway: &nexusv1.GatewaySpec{Class: "amazon-alb"}}
	f := facts()
	f.Gateway.Controller = "gateway.k8s.aws/alb"
	var got strings.Builder
	for _, o := range ofKind(compile(t, with, f), "HTTPRoute") {
		for _, r := range at(t, o, "spec", "rules").([]any) {
			path, _, _ := unstructured.NestedString(r.(map[string]any)["matches"].([]any)[0].(map[string]any), "path", "value")
			name := r.(map[string]any)["backendRefs"].([]any)[0].(map[string]any)["name"].(string)
			got.WriteString(path + "=" + name + " ")
		}
	}
	if want := "/accounts=studio-dev-accounts-svc /admin=studio-dev-admin-svc /chat=studio-dev-chat-svc /api=studio-dev-api-svc /ws=studio-dev-chat-svc /=studio-dev-web-svc "; got.String() != want {
		t.Errorf("routes of the Gateway: %s", got.String())
	}
}

// The order of spec.components has no effect, and neither has that of an access.
func TestComponents_HaveNoOrder(t *testing.T) {
	one := only(withData, with("b", access("license", "openai")), worker("a"))
	other := only(withData, worker("a"), with("b", access("openai", "license")))
	if a, b := print(t, compile(t, one, facts())), print(t, compile(t, other, facts())); a != b {
		t.Errorf("%s\n---\n%s", a, b)
	}
}

// A component that is alone gets no objects of others: no frontend, no backend, and for a Worker nothing that traffic comes through.
func TestComponents_OneAloneIsEnough(t *testing.T) {
	for name, tc := range map[string]struct {
		c    *nexusv1.NexusAICapability
		want string
	}{
		"a frontend": {minimal(func(c *nexusv1.NexusAICapability) { c.Spec.Backend = nexusv1.BackendSpec{} }), "Deployment/myapp-dev-frontend Ingress/myapp-dev-app-ingress Service/myapp-dev-frontend-svc"},
		"a backend with a page": {minimal(func(c *nexusv1.NexusAICapability) {
			c.Spec.Frontend, c.Spec.Backend.Routes = nexusv1.FrontendSpec{}, routes("/")
		}), "Deployment/myapp-dev-backend Ingress/myapp-dev-app-ingress Service/myapp-dev-backend-svc Service/myapp-dev-backend-svc-internal"},
		"a worker":              {only(worker("w")), "Deployment/myapp-dev-w"},
		"a service":             {only(aService("s")), "Deployment/myapp-dev-s Service/myapp-dev-s-svc"},
		"a service with a path": {only(with("s", paths("/s"))), "Deployment/myapp-dev-s Ingress/myapp-dev-app-ingress Service/myapp-dev-s-svc"},
	} {
		g := compile(t, tc.c, facts())
		var got []string
		for _, n := range g.Nodes() {
			if slices.Contains([]string{"Deployment", "Ingress", "Service"}, n.Object.GetKind()) {
				got = append(got, n.ID)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		settings := object(t, g, "ConfigMap/myapp-dev-config")
		if _, told := at(t, settings, "data").(map[string]any)["NEXUS_BACKEND_INTERNAL_URL"]; told != (name == "a backend with a page") {
			t.Errorf("%s: the settings tell of a backend: %v", name, told)
		}
	}
}

// A Worker has no port, no probes and no time to drain unless it declares them.
func TestComponents_AWorkerIsNotCalled(t *testing.T) {
	g := compile(t, only(worker("quiet"), worker("probed", func(n *nexusv1.NamedComponentSpec) {
		n.Port, n.DrainSeconds = new(int32(9000)), new(int64(7))
		n.Probes = &nexusv1.ProbesSpec{Liveness: &nexusv1.Probe{TCPSocket: &nexusv1.TCPProbe{}}}
	})), facts())
	for name, want := range map[string]string{"quiet": "", "probed": "ports livenessProbe lifecycle "} {
		pod := at(t, object(t, g, "Deployment/myapp-dev-"+name), "spec", "template", "spec", "containers").([]any)[0].(map[string]any)
		got := ""
		for _, field := range []string{"ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"} {
			if pod[field] != nil {
				got += field + " "
			}
		}
		if got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// rightsOf lists the resources that a role names, by action.
func rightsOf(t fatal, g *graph.Graph, role string) map[string][]string {
	out := map[string][]string{}
	for _, d := range policies(t, object(t, g, "IAMRole/"+role)) {
		for _, s := range d.Statement {
			for _, a := range s.Action {
				out[a] = append(out[a], s.Resource...)
			}
		}
	}
	return out
}

// roleOf names the role of a component.
func roleOf(c *nexusv1.NexusAICapability, component string) string {
	for _, w := range capability.Workloads(c) {
		if w.Component == component {
			return w.Role
		}
	}
	return ""
}

func TestAccess_GivesExactlyTheseRights(t *testing.T) {
	c := minimal(withData, with("reader", access("license")), with("table", access("dynamodb/license")), with("other", access("dynamodb/license")),
		with("catalog", access("glue")), with("nothing", access()), with("queue", access("jobs")))
	c.Spec.DataServices.Queues = []nexusv1.QueueSpec{{Name: "jobs"}, {Name: "more"}}
	c.Spec.DataServices.KMS = &nexusv1.KMSSpec{}
	g := compile(t, c, facts())
	if roles := capability.Roles(c); len(roles) != 6 || roles[0] != "myapp-dev-app-role" || roleOf(c, "table") != roleOf(c, "other") || roleOf(c, "nothing") != "myapp-dev-access-none-role" {
		t.Errorf("roles %v", roles)
	}
	for component, want := range map[string]string{
		"reader":  "dynamodb:table/myapp-dev-license secretsmanager:secret:myapp/dev/license-AbCdEf ssm kms:dynamodb,secretsmanager",
		"table":   "dynamodb:table/myapp-dev-license ssm kms:dynamodb",
		"catalog": "s3:myapp-dev-call-data ssm glue kms:s3",
		"queue":   "sqs:myapp-dev-jobs ssm kms:sqs",
		"nothing": "",
	} {
		rights := rightsOf(t, g, roleOf(c, component))
		var got []string
		for _, tc := range []struct{ action, prefix, cut string }{
			{"dynamodb:GetItem", "dynamodb:", "123456789012:"}, {"secretsmanager:GetSecretValue", "secretsmanager:", "123456789012:"}, {"s3:ListBucket", "s3:", ":::"}, {"sqs:SendMessage", "sqs:", "123456789012:"},
		} {
			for _, arn := range rights[tc.action] {
				_, name, _ := strings.Cut(arn, tc.cut)
				got = append(got, tc.prefix+name)
			}
		}
		if len(rights["ssm:GetParameter"]) > 0 {
			got = append(got, "ssm")
		}
		if len(rights["glue:GetTable"]) > 0 {
			got = append(got, "glue")
		}
		if via := viaServices(t, g, roleOf(c, component)); via != "" {
			got = append(got, "kms:"+via)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", component, got, want)
		}
	}
	for _, arn := range rightsOf(t, g, roleOf(c, "queue"))["ssm:GetParameter"] {
		if strings.Contains(arn, "dynamodb/") || strings.Contains(arn, "more-queue") || strings.HasSuffix(arn, "*") {
			t.Errorf("the worker of a queue reads %s", arn)
		}
	}
	settings := at(t, object(t, g, "ConfigMap/"+strings.TrimSuffix(roleOf(c, "queue"), "role")+"config"), "data").(map[string]any)
	if settings["NEXUS_SQS_QUEUE_URL_JOBS"] == nil || settings["NEXUS_SQS_QUEUE_URL_MORE"] != nil || settings["NEXUS_DYNAMODB_TABLE_LICENSE"] != nil {
		t.Errorf("its settings: %v", settings)
	}
}

// viaServices returns the services of the kms:ViaService conditions in the policies of a role: it may use the key of the capability through
// them only.
func viaServices(t fatal, g *graph.Graph, role string) string {
	var out []string
	for _, d := range policies(t, object(t, g, "IAMRole/"+role)) {
		for _, s := range d.Statement {
			for _, service := range s.Condition["StringEquals"]["kms:ViaService"] {
				name, _, _ := strings.Cut(service, ".")
				out = append(out, name)
			}
		}
	}
	return strings.Join(out, ",")
}

// A role never loses rights by an edit of access: another access has another role.
func TestAccess_ARoleKeepsItsRights(t *testing.T) {
	before := only(withData, with("a", access("license", "openai")))
	after := only(withData, with("a", access("license")), with("b", access("openai", "license")))
	if roleOf(before, "a") == roleOf(after, "a") || roleOf(before, "a") != roleOf(after, "b") {
		t.Errorf("%s, then %s and %s", roleOf(before, "a"), roleOf(after, "a"), roleOf(after, "b"))
	}
}

// Over random capabilities: every pod runs with an existing ServiceAccount. Its role has wildcards only for the objects of a bucket,
// parameters with the owner's tag, and regions of a model, and names no more than the role for everything.
func TestAccess_NoRoleReachesBeyondTheCapability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		g := compile(t, c, facts())
		accounts := map[string]bool{}
		for _, o := range ofKind(g, "ServiceAccount") {
			accounts[o.GetName()] = true
		}
		for _, o := range ofKind(g, "Deployment") {
			if sa := at(t, o, "spec", "template", "spec", "serviceAccountName"); !accounts[sa.(string)] {
				t.Fatalf("%s runs as %v, of %v", o.GetName(), sa, accounts)
			}
		}
		for _, role := range capability.Roles(c) {
			for action, list := range rightsOf(t, g, role) {
				for _, arn := range list {
					if arn == "*" || strings.Contains(arn, "*") && !strings.HasPrefix(action, "s3:") && !strings.HasPrefix(action, "ssm:") && !strings.HasPrefix(action, "bedrock:") {
						t.Fatalf("%s may %s on %s", role, action, arn)
					}
				}
			}
		}
	})
}

func TestComponents_EachHasItsStatus(t *testing.T) {
	c := only(with("chat", paths("/")), worker("w"))
	g := compile(t, c, facts())
	o := capability.Observed{Capability: c, Facts: facts(), Graph: g, States: map[string]capability.State{}}
	for _, n := range g.Nodes() {
		o.States[n.ID] = capability.State{Applied: true, Ready: true}
	}
	o.States["Deployment/myapp-dev-w"] = capability.State{Applied: true, Stalled: true, Reason: "ImagePullBackOff", Message: "push it"}
	st := nexusv1.NexusAICapabilityStatus{}
	report := capability.Summarize(o)
	report.WriteTo(&st, 1, noon)
	want := []nexusv1.ComponentStatus{
		{Name: "chat", Type: nexusv1.ComponentService, State: nexusv1.ResourceReady, URL: "http://myapp-dev-chat-svc.myapp-dev.svc:8080"},
		{Name: "w", Type: nexusv1.ComponentWorker, State: nexusv1.ResourceFailed, Reason: "ImagePullBackOff", Message: "Deployment/myapp-dev-w: push it"},
	}
	if !slices.Equal(st.Components, want) {
		t.Errorf("%+v", st.Components)
	}
	for _, cond := range st.Conditions {
		switch cond.Type {
		case nexusv1.ConditionComponentsReady:
			if cond.Status != "False" || cond.Reason != "ImagePullBackOff" {
				t.Errorf("%+v", cond)
			}
		case nexusv1.ConditionFrontendReady, nexusv1.ConditionBackendReady:
			if cond.Status != "True" || cond.Reason != "Skipped" && cond.Reason != "Ready" {
				t.Errorf("%+v", cond)
			}
		}
	}
	if st.Endpoints.BackendInternal != "" {
		t.Errorf("%+v", st.Endpoints)
	}
	// Later it has no components of that kind any more.
	later := minimal()
	o = capability.Observed{Capability: later, Facts: facts(), Graph: compile(t, later, facts())}
	capability.Summarize(o).WriteTo(&st, 2, noon)
	if st.Components != nil {
		t.Errorf("%+v", st.Components)
	}
}

func TestComponents_AreFoundByTheirObjects(t *testing.T) {
	c := minimal(with("chat", paths("/chat")))
	for name, want := range map[string]string{"myapp-dev-chat": "Components", "myapp-dev-chat-svc": "Components", "myapp-dev-backend-svc-internal": "Backend",
		"myapp-dev-frontend-svc": "Frontend", "myapp-dev-gone": "Components"} {
		if got := capability.StepOfResource(c, nexusv1.ResourceStatus{Kind: "Service", Name: name}); got != want {
			t.Errorf("%s is in step %s, want %s", name, got, want)
		}
	}
	c.Spec.Components[0].Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}
	for _, w := range capability.Workloads(c) {
		if w.Balanced != (w.Component == "chat") {
			t.Errorf("%+v", w)
		}
	}
}
