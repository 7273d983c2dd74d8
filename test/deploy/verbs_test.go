// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/cli"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/optree"
	"github.com/nexus-operator/nexus-operator/internal/testkit/registry"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// verb says how a verb of nexusctl is run on the stage, and what it does there.
type verb struct {
	// args is a command line with which the verb has something to do.
	args  []string
	stdin string
	// writes is true when it changes the cluster, AWS or the kubeconfig.
	writes bool
	// cluster and aws are true when it can do nothing without them.
	cluster, aws bool
	// group is true when it only has verbs below it.
	group bool
	// also are exit codes besides 0 with which it ends when it has done its work.
	also []int
	// unready are exit codes besides 4 with which it says that the cluster or AWS cannot be reached.
	unready []int
}

// stage is a world in which every verb has something to do: an operator and a load balancer controller that nexusctl installed, and a
// capability that runs.
type stage struct {
	*person
	capability *nexusv1.NexusAICapability
	operator   *appsv1.Deployment
	// kube and powerless lead to the API server: with every right, and with none.
	kube, powerless *kubeproxy.Proxy
	// env are the variables of every run.
	env []string
	// manifest declares an edit of the capability, chart is that of the controller, and source that of an application.
	manifest, chart, source, tree string
}

// verbs are all verbs by their command line. A verb that is not here fails the sweep.
func (x *stage) verbs() map[string]verb {
	in, name := x.capability.Namespace, "ncap/"+x.capability.Name
	group := verb{group: true}
	script := func(shell string) verb { return verb{args: []string{"completion", shell}} }
	return map[string]verb{
		"init": {args: []string{"init", "--yes", "--image", "frontend=registry.example/web:1", "--image",
			"backend=registry.example/api:1", "-o", "-"}},
		"plan":                 {args: []string{"plan", "-f", x.manifest}, cluster: true, aws: true},
		"diff":                 {args: []string{"diff", "-f", x.manifest}, cluster: true, aws: true, also: []int{1}},
		"render":               {args: []string{"render", "-f", x.manifest}},
		"validate":             {args: []string{"validate", "-f", x.manifest}},
		"import":               {args: []string{"import", "s3bucket/of-nobody"}, aws: true},
		"list":                 {args: []string{"list", "-n", in}, cluster: true},
		"schema":               {args: []string{"schema", "AWS::SQS::Queue"}},
		"mcp":                  {args: []string{"mcp"}},
		"ui":                   {args: []string{"ui", "--idle-timeout", "1s"}, cluster: true},
		"status":               {args: []string{"status", name, "-n", in}, cluster: true},
		"tree":                 {args: []string{"tree", name, "-n", in}, cluster: true},
		"explain":              {args: []string{"explain", name, "-n", in}, cluster: true},
		"reconcile":            {args: []string{"reconcile", name, "-n", in}, writes: true, cluster: true},
		"suspend":              {args: []string{"suspend", name, "-n", in}, writes: true, cluster: true},
		"approve":              {args: []string{"approve", "s3bucket/pending", "-n", in}, writes: true, cluster: true},
		"resume":               {args: []string{"resume", "s3bucket/frozen", "-n", in}, writes: true, cluster: true},
		"undo":                 {args: []string{"undo", "ncap/" + parting, "-n", parting}, writes: true, cluster: true},
		"delete-now":           {args: []string{"delete-now", "ncap/" + parting, "-n", parting}, writes: true, cluster: true},
		"drift":                {args: []string{"drift", "-n", in}, cluster: true},
		"iam":                  group,
		"iam policy":           group,
		"iam policy operator":  {args: []string{"iam", "policy", "operator"}},
		"iam policy installer": {args: []string{"iam", "policy", "installer"}},
		"iam policy app":       {args: []string{"iam", "policy", "app", name, "-n", in}, cluster: true},
		"secrets":              group,
		"secrets status":       {args: []string{"secrets", "status", "-n", in}, cluster: true},
		"secrets set": {args: []string{"secrets", "set", "awssecret/" + in + "-openai", "-n", in, "--from-file", "apiKey=-"},
			stdin: "sk-1", writes: true, cluster: true, aws: true},
		"monitor":           {args: []string{"monitor", name, "-n", in, "--wait-for", "running"}, cluster: true},
		"verify-capability": {args: []string{"verify-capability", name, "-n", in, "--only", "resources"}, cluster: true, aws: true},
		"fix-irsa":          {args: []string{"fix-irsa"}, writes: true, cluster: true, aws: true},
		"scan": {args: []string{"scan", "--only", "aws,cluster,nodes,access"}, cluster: true, aws: true, also: []int{1},
			unready: []int{1}},
		"update": {args: []string{"update"}, writes: true, cluster: true},
		"deploy": {args: []string{"deploy", "--image", operatorImage, "--replicas", "3"}, writes: true, cluster: true, aws: true},
		"delete": {args: []string{"delete", "--full", "--cascade=delete", "--yes"}, writes: true, cluster: true, aws: true},
		"install-alb-controller": {args: []string{"install-alb-controller", "--cluster-name", "demo", "--vpc-id", "vpc-1", "--chart", x.chart,
			"--set", "replicaCount=2"}, writes: true, cluster: true, aws: true},
		"delete-alb-controller":  {args: []string{"delete-alb-controller", "--yes"}, writes: true, cluster: true, aws: true},
		"drift-events":           group,
		"drift-events install":   {args: []string{"drift-events", "install", "--name", "sweep"}, writes: true, cluster: true, aws: true},
		"drift-events status":    {args: []string{"drift-events", "status"}, cluster: true, aws: true},
		"drift-events uninstall": {args: []string{"drift-events", "uninstall", "--yes"}, writes: true, cluster: true, aws: true},
		"kubeconfig":             {args: []string{"kubeconfig", "--cluster-name", "demo"}, writes: true, aws: true},
		"token":                  {args: []string{"token", "--cluster-name", "demo"}, aws: true},
		"build":                  group,
		"build operator":         {args: []string{"build", "operator", "--source", x.tree}, writes: true, aws: true},
		"build app": {args: []string{"build", "app", "backend", name, "-n", in, "--source", x.source}, writes: true, cluster: true,
			aws: true},
		"rollout": {args: []string{"rollout", name, "-n", in}, writes: true, cluster: true},
		"e2e": {args: []string{"e2e", "-f", x.manifest, "--force-conflicts", "--skip-clean", "--skip-app-build", "--from-step",
			"4", "--image", operatorImage, "--replicas", "3"}, writes: true, cluster: true, aws: true},
		"docs":                  {args: []string{"docs", "--dir", filepath.Join(x.source, "pages")}},
		"dev":                   group,
		"dev up":                {args: []string{"dev", "up", "--operator", os.Args[0]}, writes: true},
		"dev down":              {args: []string{"dev", "down"}, writes: true},
		"dev status":            {args: []string{"dev", "status"}, also: []int{1}},
		"version":               {args: []string{"version"}, cluster: true},
		"completion":            group,
		"completion bash":       script("bash"),
		"completion zsh":        script("zsh"),
		"completion fish":       script("fish"),
		"completion powershell": script("powershell"),
	}
}

// each calls do in a parallel test for every verb that people see, as the commands themselves list them.
func (x *stage) each(t *testing.T, do func(t *testing.T, cmd *cobra.Command, v verb)) {
	root := cli.Program{Kinds: catalog.Kinds, Engines: catalog.Engines, Getenv: func(string) string { return "" }}.Command("nexusctl")
	root.InitDefaultCompletionCmd()
	known := x.verbs()
	var walk func(*cobra.Command)
	walk = func(parent *cobra.Command) {
		for _, cmd := range parent.Commands() {
			if cmd.Hidden {
				continue
			}
			name := strings.TrimPrefix(cmd.CommandPath(), "nexusctl ")
			v, is := known[name]
			delete(known, name)
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				if !is {
					t.Fatal("the verb is not in the table of this test: say what it needs and whether it writes")
				}
				do(t, cmd, v)
			})
			walk(cmd)
		}
	}
	walk(root)
	for name := range known {
		t.Errorf("there is no verb %s", name)
	}
}

// newStage installs everything that the verbs need.
func newStage(t *testing.T) *stage {
	x := &stage{person: newPerson(t), chart: chartFolder(t, "3.6.0"), tree: optree.Write(t, "one"), source: t.TempDir()}
	r := registry.StartECR(t, account, x.config())
	x.withoutController()
	clusters := eks.NewFromConfig(x.config())
	if _, err := clusters.CreateCluster(t.Context(),
		&eks.CreateClusterInput{Name: aws.String("demo"), RoleArn: aws.String("arn:aws:iam::" + account + ":role/cluster"),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{}}); err != nil {
		t.Fatal(err)
	}
	x.wants(x.installs("--chart", x.chart), 0, "is ready")
	x.deployed("--operator-arg=--capability-namespaces=myapp-*", "--operator-arg=--health-probe-bind-address=0",
		"--operator-arg=--metrics-bind-address=0")
	x.wants(x.runs("drift-events", "install"), 0, "create the queue of drift events")
	x.operator = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator"}}
	if err := x.Get(x.operator); err != nil {
		t.Fatal(err)
	}
	x.Op = operator.FromDeployment(t, x.World, x.operator)
	x.declares(r.Host)
	if err := os.WriteFile(filepath.Join(x.source, "Dockerfile"), []byte("FROM scratch"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := strings.ReplaceAll(x.trust(), "EXAMPLE", "GONE") // as after the cluster was created again, for fix-irsa
	if _, err := x.iam().UpdateAssumeRolePolicy(t.Context(),
		&iam.UpdateAssumeRolePolicyInput{RoleName: aws.String(roleName), PolicyDocument: &old}); err != nil {
		t.Fatal(err)
	}
	buckets := s3.NewFromConfig(x.config(), func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := buckets.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("of-nobody"),
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}}); err != nil {
		t.Fatal(err)
	}
	nobody, err := x.World.UserConfig("nobody")
	if err != nil {
		t.Fatal(err)
	}
	x.kube, err = kubeproxy.Start(x.World.Config())
	if err != nil {
		t.Fatal(err)
	}
	x.powerless, err = kubeproxy.Start(nobody)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(x.kube.Close(), x.powerless.Close()) })
	x.env = append(r.Env(), "PATH="+engine.Install(t, "docker")+":"+os.Getenv("PATH"))
	return x
}

// parting is the namespace and the name of a capability that is deleted and can be brought back.
const parting = "myapp-parting-dev"

// parts deletes a capability with a time in which that can be undone.
func (x *stage) parts(from *nexusv1.NexusAICapability) {
	x.Helper()
	c := from.DeepCopy()
	c.ObjectMeta = metav1.ObjectMeta{Namespace: x.MakeNamespace(parting), Name: parting}
	c.Spec.CapabilityName, c.Spec.DataServices = "myapp-parting",
		&nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "kept"}}}}
	c.Spec.DeletionPolicy, c.Spec.Deletion = nexusv1.DeletionDelete, &nexusv1.DeletionSpec{Graceful: &metav1.Duration{Duration: time.Hour}}
	c.Status = nexusv1.NexusAICapabilityStatus{}
	x.Create(c)
	x.Running(c)
	if err := x.Client.Delete(x.Ctx(), c); err != nil {
		x.Fatal(err)
	}
	x.Until(c, time.Minute, "the capability to be recoverable", func() error {
		if err := x.Get(c); err != nil {
			return err
		}
		if c.Status.Phase != nexusv1.PhaseRecoverable {
			return errors.New(string(c.Status.Phase) + ": " + c.Status.Message)
		}
		return nil
	})
}

// declares has a capability run, and beside it a bucket that is suspended. Then it writes an edit of the capability into a file.
func (x *stage) declares(registry string) {
	x.Helper()
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Backend.Image = registry + "/app/backend:v1"
	if c.Spec.Ingress == nil {
		c.Spec.Ingress = &nexusv1.IngressSpec{}
	}
	c.Spec.Ingress.Enabled = aws.Bool(false) // it would hold the controller, and so would load balancers of Services
	for _, w := range []*nexusv1.ComponentSpec{&c.Spec.Frontend.ComponentSpec, &c.Spec.Backend.ComponentSpec} {
		w.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}
	}
	x.MakeNamespace(c.Namespace)
	binding := metav1.ObjectMeta{Namespace: c.Namespace, Name: "nexus-operator-secrets"}
	// other tests leave theirs
	if err := x.Client.Delete(x.Ctx(), &rbacv1.RoleBinding{ObjectMeta: binding}); client.IgnoreNotFound(err) != nil {
		x.Fatal(err)
	}
	x.Create(&rbacv1.RoleBinding{ObjectMeta: binding,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-secrets"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "nexus-system", Name: "nexus-operator"}}}, c)
	x.Create(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "frozen",
		Annotations: map[string]string{wellknown.AnnotationPaused: "true"}},
		Spec: v1alpha1.S3BucketSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: c.Name}},
			BucketName: "frozen"}})
	x.pends(c)
	x.Running(c)
	x.parts(c)
	x.capability = c
	next := c.DeepCopy()
	next.ObjectMeta = metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}
	next.Spec.Backend.Replicas = aws.Int32(3)
	x.manifest = x.write(next)
}

// pends makes a bucket whose plan waits for an approval, by its status.
func (x *stage) pends(c *nexusv1.NexusAICapability) {
	x.Helper()
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "pending",
		Annotations: map[string]string{wellknown.AnnotationPaused: "true"}},
		Spec: v1alpha1.S3BucketSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: c.Name}},
			BucketName: "pending"}}
	x.Create(o)
	status.Set(&o.Status.Conditions, o.Generation, time.Now(),
		metav1.Condition{Type: status.PlanApproved, Status: metav1.ConditionFalse, Reason: status.ReasonPlanPending,
			Message: status.PendingMessage(strings.Repeat("0", 32))})
	if err := x.Client.Status().Update(x.Ctx(), o); err != nil {
		x.Fatal(err)
	}
}

// hand is one run of nexusctl, whose requests the ledgers list apart from those of other runs.
type hand struct {
	*stage
	kube    *kubeproxy.Proxy
	name    string
	address string
	aws     string
	dir     string
}

// hand prepares a run by a way to the API server.
func (x *stage) hand(t *testing.T, kube *kubeproxy.Proxy) *hand {
	t.Helper()
	h := &hand{stage: x, kube: kube, name: strings.ReplaceAll(t.Name(), "/", "-"), dir: t.TempDir()}
	way, err := kube.Listen(h.name)
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := x.World.AWS().Listen(h.name)
	if err != nil {
		t.Fatal(err)
	}
	h.address, h.aws = way.URL(), cloud.URL()
	if err := world.WriteKubeconfig(h.kubeconfig(), way.Config()); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hand) kubeconfig() string { return filepath.Join(h.dir, "kubeconfig") }

// run runs nexusctl with these variables besides those of the stage.
func (h *hand) run(t *testing.T, v verb, env []string, args ...string) nexusctl.Answer {
	t.Helper()
	return nexusctl.Run(t, h.World, h.environment(env...), v.stdin, append(slices.Clone(v.args), args...)...)
}

func (h *hand) environment(more ...string) []string {
	return slices.Concat(h.env,
		[]string{"AWS_ENDPOINT_URL=" + h.aws, "KUBECONFIG=" + h.kubeconfig(), "NEXUS_CACHE=" + filepath.Join(h.dir, "cache")}, more)
}

// credentials lists the credentials of an administrator of the account.
var credentialsOfAdmin = []string{"AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}

// questions are the creations that ask the API server something and leave nothing behind.
var questions = []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews", "serviceaccounts/token"}

// wroteNothing fails the test when the run changed the cluster, AWS, the kubeconfig or the cache.
func (h *hand) wroteNothing(t *testing.T) {
	t.Helper()
	for _, c := range h.kube.Calls().Writes() {
		if c.Endpoint == h.name && !slices.Contains(questions, c.What()) {
			t.Errorf("it wrote to the cluster: %s", c.Label())
		}
	}
	for _, c := range h.World.AWS().Calls().From(h.name).Writes() {
		t.Errorf("it wrote to AWS: %s", c.Label())
	}
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(h.kubeconfig())
	if len(entries) != 1 || err != nil || strings.Contains(string(text), "demo") {
		t.Errorf("it wrote files: %v %v\n%s", entries, err, text)
	}
}

// The sweep shares one stage: its parts run one after the other, and their verbs side by side.
func TestEveryVerb(t *testing.T) {
	extent.Full(t)
	x := newStage(t)
	t.Run("writes nothing in a dry run", x.dryRuns)
	t.Run("says what is missing", x.missing)
	t.Run("prints what its help announces", x.formats)
	t.Run("ends when it is interrupted", x.interruptions)
	t.Run("says what is left when it is interrupted", x.interruptedWaits)
	if err := x.Get(x.operator); err != nil {
		t.Errorf("the operator is gone: %v", err)
	}
	// a removal of the operator would wait as long
	x.wants(x.runs("delete-now", "ncap/"+parting, "-n", parting), 0, "its stores are deleted now")
	ended := x.endsWithItsPods(x.operator)
	x.wants(x.runs("delete", "--full", "--yes", "--cascade=delete", "--timeout", "1m"), 0, "The operator was removed.")
	<-ended
}

func (x *stage) dryRuns(t *testing.T) {
	x.each(t, func(t *testing.T, cmd *cobra.Command, v verb) {
		if has := cmd.Flags().Lookup("dry-run") != nil; has != v.writes {
			t.Fatalf("has --dry-run: %t, and changes something: %t", has, v.writes)
		}
		if !v.writes {
			return
		}
		h := x.hand(t, x.kube)
		a := h.run(t, v, credentialsOfAdmin, "--dry-run")
		if a.Code != 0 || a.Out == "" {
			t.Errorf("exit code %d\n%s\n%s", a.Code, a.Out, a.Err)
		}
		if strings.Contains(a.Out, "unchanged") || strings.Contains(a.Out, "nothing to change") || strings.Contains(a.Out, "already") {
			t.Errorf("the command line has nothing to do on this stage:\n%s", a.Out)
		}
		h.wroteNothing(t)
	})
}

// lack is something that a run does without.
type lack struct {
	name string
	// concerns reports whether a verb needs it.
	concerns func(verb) bool
	kube     *kubeproxy.Proxy
	env      []string
	// says are texts of the message, among them what to do. {server} is the address of the API server.
	says []string
}

func (x *stage) missing(t *testing.T) {
	needsCluster, needsAWS := func(v verb) bool { return v.cluster }, func(v verb) bool { return v.aws }
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	if err := os.WriteFile(nowhere,
		[]byte("apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: a, context: {cluster: a}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, l := range []lack{
		{"a kubeconfig", needsCluster, x.kube, append(slices.Clone(credentialsOfAdmin), "KUBECONFIG=/nonexistent"),
			[]string{"--kubeconfig", "KUBECONFIG", "nexusctl kubeconfig"}},
		{"an API server", needsCluster, x.kube, append(slices.Clone(credentialsOfAdmin), "KUBECONFIG="+nowhere),
			[]string{"http://127.0.0.1:1", "cannot be reached", "--context"}},
		{"rights in the cluster", needsCluster, x.powerless, credentialsOfAdmin, []string{`User "nobody" cannot `}},
		{"AWS credentials", needsAWS, x.kube, nil, []string{"AWS_PROFILE", "--profile"}},
		{"everything", func(v verb) bool { return !v.cluster && !v.aws && !v.writes }, x.kube, []string{"KUBECONFIG=/nonexistent"}, nil},
	} {
		t.Run(l.name, func(t *testing.T) {
			x.each(t, func(t *testing.T, _ *cobra.Command, v verb) {
				if l.concerns(v) && !v.group {
					x.lacks(t, v, l)
				}
			})
		})
	}
}

// lacks runs a verb without something, in earnest.
func (x *stage) lacks(t *testing.T, v verb, l lack) {
	h := x.hand(t, l.kube)
	a := h.run(t, v, l.env)
	h.wroteNothing(t)
	if l.says == nil {
		if a.Code != 0 && !slices.Contains(v.also, a.Code) {
			t.Errorf("exit code %d of a verb that needs nothing\n%s\n%s", a.Code, a.Out, a.Err)
		}
		return
	}
	if a.Code != 4 && !slices.Contains(v.unready, a.Code) {
		t.Errorf("exit code %d\n%s\n%s", a.Code, a.Out, a.Err)
	}
	said := strings.Join(strings.Fields(a.Out+a.Err), " ")
	for _, text := range l.says {
		if !strings.Contains(said, text) {
			t.Errorf("no %q in\n%s\n%s", text, a.Out, a.Err)
		}
	}
	if n := strings.Count("\n"+a.Err, "\nnexusctl: "); n > 1 || n == 0 && a.Code == 4 {
		t.Errorf("%d messages\n%s", n, a.Err)
	}
	for _, trace := range []string{"panic:", "goroutine ", "runtime error", "retried automatically"} {
		if strings.Contains(a.Out+a.Err, trace) {
			t.Errorf("a stack trace, or what only an operator does:\n%s\n%s", a.Out, a.Err)
		}
	}
}
