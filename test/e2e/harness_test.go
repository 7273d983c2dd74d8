// Package e2e runs the operator's own binary against a real control plane and an emulated AWS, as a
// user's cluster would: killed with SIGKILL, restarted, refused and throttled.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// binary is the operator, built once for the package.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nexus-e2e-")
	if err == nil {
		binary = filepath.Join(dir, "nexus-operator")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", binary, "../../cmd/nexus-operator").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the operator:", err)
		os.Exit(1)
	}
	defer os.RemoveAll(dir)
	world.Main(m, world.Options{CRDs: []string{"../../config/crd/bases"}})
}

// bed is a test's part of the shared world: an empty AWS and namespaces of its own.
type bed struct {
	*testing.T
	w  *world.World
	c  client.Client
	op *operator
	ns string
}

var serial atomic.Int64

// newBed empties AWS, makes a namespace and starts the operator.
func newBed(t *testing.T, flags ...string) *bed {
	t.Helper()
	w := world.Shared(t)
	if err := w.AWS().Reset(); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(w.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{T: t, w: w, c: c}
	b.ns = b.namespace(fmt.Sprintf("team-%d", serial.Add(1)))
	b.op = b.start(flags...)
	t.Cleanup(b.clean)
	return b
}

func (b *bed) namespace(name string) string {
	b.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := b.c.Create(b.ctx(), ns); err != nil && !apierrors.IsAlreadyExists(err) {
		b.Fatal(err)
	}
	return name
}

func (b *bed) ctx() context.Context { return context.WithoutCancel(b.Context()) }

// clean removes what the test left, with the operator alive and AWS in order, so that the next test
// finds nothing of it.
func (b *bed) clean() {
	if b.Failed() {
		b.Logf("operator log:\n%s", tail(b.op.log(), 6000))
	}
	b.w.AWS().ClearFaults()
	for _, l := range []client.ObjectList{&nexusv1.NexusAICapabilityList{}, &v1alpha1.S3BucketList{}, &v1alpha1.DynamoDBTableList{}, &v1alpha1.IAMRoleList{}, &v1alpha1.GlueTableList{},
		&v1alpha1.GlueCrawlerList{}, &v1alpha1.GlueDatabaseList{}, &v1alpha1.SSMParameterSetList{}, &v1alpha1.SecretsManagerSecretList{}, &v1alpha1.AWSProviderList{}} {
		if err := b.c.List(b.ctx(), l); err != nil {
			b.Error(err)
			continue
		}
		_ = meta.EachListItem(l, func(o runtime.Object) error {
			obj := o.(client.Object)
			// Finalizers are cut: AWS is emptied anyway, and a failed test must not fail the next.
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
			_ = b.c.Delete(b.ctx(), obj)
			_ = b.c.Patch(b.ctx(), obj, patch)
			return nil
		})
	}
	b.op.stop()
}

// operator is a running operator.
type operator struct {
	t       testing.TB
	cmd     *exec.Cmd
	aws     *awsproxy.Endpoint
	mu      sync.Mutex
	out     bytes.Buffer
	done    chan struct{}
	flags   []string
	stopped atomic.Bool
}

// Write collects the log.
func (o *operator) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

func (o *operator) log() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.String()
}

// start runs the operator with its own way to AWS, so that a kill cuts everything it has under way.
func (b *bed) start(flags ...string) *operator {
	b.Helper()
	e, err := b.w.AWS().Listen(fmt.Sprintf("operator-%d", serial.Add(1)))
	if err != nil {
		b.Fatal(err)
	}
	o := &operator{t: b, aws: e, done: make(chan struct{}), flags: flags}
	args := append([]string{"--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--kube-api-qps=500", "--kube-api-burst=1000", "--stalled-interval=2s", "--retry-first=100ms", "--retry-most=2s",
		"--aws-rates=ssm.PutParameter=100/200,*=500/1000,iam=200/200,ssm=200/200,glue=200/200"}, flags...)
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--ambient-namespaces") }) {
		args = append(args, "--ambient-namespaces=*")
	}
	o.cmd = exec.Command(binary, args...)
	o.cmd.Env = append(os.Environ(), "KUBECONFIG="+b.w.Kubeconfig(), "AWS_ENDPOINT_URL="+e.URL(), "AWS_REGION=ap-southeast-1",
		"AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=canary-of-the-operator", "OPERATOR_NAMESPACE=default", "LOG_LEVEL=INFO")
	o.cmd.Stdout, o.cmd.Stderr = o, o
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := o.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	go func() {
		_ = o.cmd.Wait()
		close(o.done)
	}()
	return o
}

// kill ends the operator as a crash would: at once, and its calls under way with it.
func (o *operator) kill() {
	if o.stopped.Swap(true) {
		return
	}
	_ = o.cmd.Process.Signal(syscall.SIGKILL)
	_ = o.aws.Close()
	<-o.done
}

// stop ends it and says whether it panicked or raced.
func (o *operator) stop() {
	o.t.Helper()
	o.kill()
	for _, bad := range []string{"panic:", "DATA RACE", "canary-of-the-operator"} {
		if strings.Contains(o.log(), bad) {
			o.t.Errorf("the operator's log contains %q:\n%s", bad, tail(o.log(), 4000))
		}
	}
}

// restart starts the operator again after a kill.
func (b *bed) restart(flags ...string) {
	b.Helper()
	b.op.kill()
	if len(flags) == 0 {
		flags = b.op.flags
	}
	b.op = b.start(flags...)
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// eventually waits until check returns no error.
func (b *bed) eventually(within time.Duration, what string, check func() error) {
	b.Helper()
	deadline := time.Now().Add(within)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("%s: not within %s: %v", what, within, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// create makes objects in the bed's namespace.
func (b *bed) create(objs ...client.Object) {
	b.Helper()
	for _, o := range objs {
		if o.GetNamespace() == "" {
			o.SetNamespace(b.ns)
		}
		if err := b.c.Create(b.ctx(), o); err != nil {
			b.Fatalf("creating %T %s: %v", o, o.GetName(), err)
		}
	}
}

// get reads an object anew.
func (b *bed) get(o client.Object) error {
	return b.c.Get(b.ctx(), client.ObjectKeyFromObject(o), o)
}

// condition reads a condition of any object.
func (b *bed) condition(o client.Object, kind string) (metav1.Condition, error) {
	if err := b.get(o); err != nil {
		return metav1.Condition{}, err
	}
	for _, c := range conditionsOf(o) {
		if c.Type == kind {
			return c, nil
		}
	}
	return metav1.Condition{}, fmt.Errorf("no condition %s", kind)
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case v1alpha1.Resource:
		return o.CommonStatus().Conditions
	case *v1alpha1.AWSProvider:
		return o.Status.Conditions
	case *nexusv1.NexusAICapability:
		return o.Status.Conditions
	default:
		return nil
	}
}

// ready waits until objects are Ready at their generation.
func (b *bed) ready(objs ...client.Object) {
	b.Helper()
	for _, o := range objs {
		b.eventually(40*time.Second, fmt.Sprintf("%T %s to be ready", o, o.GetName()), func() error {
			c, err := b.condition(o, "Ready")
			if err == nil && (c.Status != metav1.ConditionTrue || c.ObservedGeneration != o.GetGeneration()) {
				err = fmt.Errorf("Ready=%s/%s %s", c.Status, c.Reason, c.Message)
			}
			return err
		})
	}
}

// shows waits until a condition has a status and reason, and returns its message.
func (b *bed) shows(o client.Object, kind string, s metav1.ConditionStatus, reason string) string {
	b.Helper()
	var message string
	b.eventually(30*time.Second, fmt.Sprintf("%T %s to show %s=%s/%s", o, o.GetName(), kind, s, reason), func() error {
		c, err := b.condition(o, kind)
		if err == nil && (c.Status != s || c.Reason != reason) {
			err = fmt.Errorf("%s=%s/%s %s", c.Type, c.Status, c.Reason, c.Message)
		}
		message = c.Message
		return err
	})
	return message
}

// remove deletes objects and waits until they are gone.
func (b *bed) remove(objs ...client.Object) {
	b.Helper()
	for _, o := range objs {
		if err := b.c.Delete(b.ctx(), o); client.IgnoreNotFound(err) != nil {
			b.Fatal(err)
		}
	}
	for _, o := range objs {
		b.gone(o)
	}
}

func (b *bed) gone(o client.Object) {
	b.Helper()
	b.eventually(60*time.Second, fmt.Sprintf("%T %s to be gone", o, o.GetName()), func() error {
		err := b.get(o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("still there: %+v", conditionsOf(o))
		}
		return err
	})
}

// inventory lists what is in AWS, by kind; kinds with nothing are left out. So are secrets in their
// recovery window, which is how Secrets Manager deletes, and the keys that AWS itself keeps.
func (b *bed) inventory() map[string][]string {
	b.Helper()
	inv, err := b.w.AWS().Inventory(b.ctx())
	if err != nil {
		b.Fatal(err)
	}
	delete(inv, "kms/key")
	for k, v := range inv {
		inv[k] = slices.DeleteFunc(v, func(name string) bool { return strings.HasSuffix(name, "(scheduled for deletion)") })
		if len(inv[k]) == 0 {
			delete(inv, k)
		}
	}
	return inv
}

// edit changes an object's spec as a user would, again when somebody else came in between.
func (b *bed) edit(o client.Object, change func()) {
	b.Helper()
	b.eventually(10*time.Second, "editing "+o.GetName(), func() error {
		if err := b.get(o); err != nil {
			return err
		}
		change()
		return b.c.Update(b.ctx(), o)
	})
}

// file reads the manifests of a file below the repository's root.
func (b *bed) file(path string) []*unstructured.Unstructured {
	b.Helper()
	objs, err := world.ReadManifests(filepath.Join("../..", path))
	if err != nil {
		b.Fatal(err)
	}
	return objs
}

func provider(name string) *v1alpha1.AWSProvider {
	return &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
}

func through(p string) v1alpha1.CommonSpec {
	return v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: p}}
}

func itemsOf(l client.ObjectList) []client.Object {
	var out []client.Object
	_ = meta.EachListItem(l, func(o runtime.Object) error {
		out = append(out, o.(client.Object))
		return nil
	})
	return out
}

func lenOf(l client.ObjectList) int { return meta.LenList(l) }

// discovery lists the kinds of nexus.ai/v1 as the API server tells clients.
func (b *bed) discovery() ([]metav1.APIResource, error) {
	d, err := discovery.NewDiscoveryClientForConfig(b.w.Config())
	if err != nil {
		return nil, err
	}
	l, err := d.ServerResourcesForGroupVersion("nexus.ai/v1")
	if err != nil {
		return nil, err
	}
	return l.APIResources, nil
}
