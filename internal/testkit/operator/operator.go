// SPDX-License-Identifier: Apache-2.0

// Package operator runs the operator's own binary as a process of a test: with its own ways to AWS and to the API server, so that a kill
// cuts all requests in progress. The test reads its log for lines that it must never contain.
package operator

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/program"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// Canary is the operator's own AWS secret key. It must never be seen again.
const Canary = "canary-of-the-operator"

const binaryName = "nexus-operator"

// Options say how an operator is run.
type Options struct {
	// Kube leads its calls to the API server by a proxy of that server, which should have the identity that
	// Config returns; nil: straight.
	Kube *kubeproxy.Proxy
	// Flags come after, and so override, those of every test: short pauses, high rates.
	Flags []string
	// Env comes after, and so overrides, the environment of every test.
	Env []string
	// Installed runs the operator as its Deployment would, instead of with Flags and the rights of config/rbac; nil: not.
	Installed *Installed
}

// Installed says how a Deployment in the cluster runs the operator.
type Installed struct {
	// Args are all arguments, and Env the variables of the container.
	Args, Env []string
	// Config is a client configuration of the ServiceAccount.
	Config *rest.Config
}

// Operator is one process. Its arguments are kept for Restart.
type Operator struct {
	t       testing.TB
	name    string
	world   *world.World
	options Options
	cmd     *exec.Cmd
	aws     *emulator.Endpoint
	kube    *kubeproxy.Endpoint
	done    chan struct{}
	killed  atomic.Bool
	once    sync.Once
	// began says where the audit log ended when it was started.
	began int64
	// metrics is the address of its metrics, or "".
	metrics string

	mu  sync.Mutex
	out bytes.Buffer
}

var (
	serial   atomic.Int64
	building sync.Mutex
)

// Build returns the operator's binary, which is compiled once for a world unless it is there. With NEXUS_RACE=1 the binary
// looks for data races, which is several times slower.
func Build(w *world.World) (string, error) {
	building.Lock()
	defer building.Unlock()
	args, err := special(w)
	switch {
	case err != nil:
		return "", err
	case len(args) == 0:
		return program.Build(binaryName, w.Dir())
	}
	binary := filepath.Join(w.Dir(), binaryName)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	return binary, program.Compile(binaryName, binary, args...)
}

// Start runs the operator against a world, with the rights that it ships with.
func Start(t testing.TB, w *world.World, options Options) *Operator {
	t.Helper()
	binary, err := Build(w)
	if err != nil {
		t.Fatal(err)
	}
	number := serial.Add(1)
	name := fmt.Sprintf("operator-%d", number)
	o := &Operator{t: t, name: name, world: w, options: options, done: make(chan struct{})}
	if o.aws, err = w.AWS().Listen(name); err != nil {
		t.Fatal(err)
	}
	config, err := o.kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	o.began = AuditEnd(w)
	if options.Kube != nil {
		if o.kube, err = options.Kube.Listen(name); err != nil {
			t.Fatal(err)
		}
		config = filepath.Join(w.Dir(), name+".kubeconfig")
		if err := world.WriteKubeconfig(config, o.kube.Config()); err != nil {
			t.Fatal(err)
		}
	}
	args := o.arguments(number)
	o.metrics = metricsOf(args)
	o.cmd = exec.Command(binary, args...)
	o.cmd.Env = append(os.Environ(), "KUBECONFIG="+config, "AWS_ENDPOINT_URL="+o.aws.URL(), "AWS_REGION=ap-southeast-1",
		"AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY="+Canary, "OPERATOR_NAMESPACE="+Namespace, "LOG_LEVEL=INFO")
	if options.Installed != nil {
		o.cmd.Env = append(o.cmd.Env, options.Installed.Env...)
	}
	o.cmd.Env = append(o.cmd.Env, options.Env...)
	if Profiled() {
		o.cmd.Env = append(o.cmd.Env, "NEXUS_PROFILE_SOCKET="+o.socket(), "GODEBUG=memprofilerate=65536")
	}
	o.cmd.Stdout, o.cmd.Stderr = o, o
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := o.launch(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.explain)
	return o
}

// explain logs the problems of an operator if the test failed before it stopped the operator: a reconciler that panics is tried again, and
// the failure of the test then does not name the cause.
func (o *Operator) explain() {
	if !o.t.Failed() {
		return
	}
	for _, problem := range Problems(o.Log()) {
		o.t.Logf("the operator's log: %s", problem)
	}
}

// kubeconfig returns the path of the configuration of the operator's ServiceAccount.
func (o *Operator) kubeconfig() (string, error) {
	if o.options.Installed == nil {
		return Kubeconfig(o.world)
	}
	path := filepath.Join(o.world.Dir(), o.name+".kubeconfig")
	return path, world.WriteKubeconfig(path, o.options.Installed.Config)
}

func (o *Operator) arguments(number int64) []string {
	if o.options.Installed == nil {
		return flags(metricsAddress(number), o.options.Flags)
	}
	return o.options.Installed.Args
}

// launch starts the process from a thread that is kept for as long as the process lives: the kernel kills it when
// the thread that launched it ends, and threads do (golang/go#27505).
func (o *Operator) launch() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := o.cmd.Start()
		started <- err
		if err == nil {
			_ = o.cmd.Wait()
		}
		close(o.done)
	}()
	return <-started
}

func flags(metrics string, own []string) []string {
	all := []string{"--leader-elect=false", "--metrics-bind-address=" + metrics, "--health-probe-bind-address=0",
		"--kube-api-qps=500", "--stalled-interval=2s", "--retry-first=100ms", "--retry-most=2s",
		"--production-deletion-grace=0s", // a test ends with everything deleted
		"--aws-rates=ssm.PutParameter=100/200,*=500/1000,iam=200/200,ssm=200/200,glue=200/200," +
			"dynamodb.TagResource=200/200,dynamodb.UntagResource=200/200,dynamodb.ListTagsOfResource=200/200," +
			"dynamodb.UpdateContinuousBackups=200/200,dynamodb.DescribeContinuousBackups=200/200"}
	for _, allowed := range allowances {
		name, _, _ := strings.Cut(allowed, "=")
		if !slices.ContainsFunc(own, func(f string) bool { return strings.HasPrefix(f, name+"=") }) {
			all = append(all, allowed)
		}
	}
	return append(all, own...)
}

// allowances holds the flags that an administrator has to set for most tests, unless a test's own flags say otherwise: generated providers
// and namespaces for workloads everywhere, and providers without credentials in the namespaces that a bed makes for its tests alone, so
// that those of capabilities never use the operator's own identity by their namespace.
var allowances = []string{"--capability-namespaces=*", "--workload-namespaces=*", "--ambient-namespaces=team-*"}

// Write collects the log.
func (o *Operator) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

// Log returns the operator's log so far.
func (o *Operator) Log() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.String()
}

// Name returns the operator's name in the ledger of AWS calls.
func (o *Operator) Name() string { return o.name }

// PID returns the id of the process.
func (o *Operator) PID() int { return o.cmd.Process.Pid }

// Kill ends the operator as a crash would: at once, with all its requests in progress. When it returns, this operator has no further
// effect. It may be called from the hook of a fault, and twice.
func (o *Operator) Kill() {
	o.once.Do(func() {
		select {
		case <-o.done:
		default:
			o.killed.Store(true)
		}
		_ = o.cmd.Process.Signal(syscall.SIGKILL)
		_ = o.aws.Close()
		if o.kube != nil {
			_ = o.kube.Close()
		}
		<-o.done
	})
}

// IgnoreRefusals leaves out the requests that the API server has refused so far: one that starts refuses everything until it has read its
// roles.
func (o *Operator) IgnoreRefusals() { o.began = AuditEnd(o.world) }

// Terminate stops the operator as Kubernetes does, with SIGTERM, and waits until it has ended.
func (o *Operator) Terminate() {
	o.once.Do(func() {
		o.killed.Store(true)
		_ = o.cmd.Process.Signal(syscall.SIGTERM)
		<-o.done
		_ = o.aws.Close()
		if o.kube != nil {
			_ = o.kube.Close()
		}
	})
}

// Stop kills the operator and reads its log and the requests that were refused to it. The operator has every right that it needs.
func (o *Operator) Stop() {
	o.t.Helper()
	o.Kill()
	for _, problem := range Problems(o.Log()) {
		o.t.Errorf("the operator's log: %s", problem)
	}
	refused, err := Refused(o.world, o.began)
	if err != nil || len(refused) > 0 {
		o.t.Errorf("the operator lacks rights (%v):\n%s", err, strings.Join(refused, "\n"))
	}
	if !o.killed.Load() {
		o.t.Errorf("the operator exited:\n%s", Tail(o.Log(), 4000))
	}
}

// Restart stops the operator and starts another in the same way, or with other flags.
func (o *Operator) Restart(flags ...string) *Operator {
	o.t.Helper()
	o.Stop()
	options := o.options
	if len(flags) > 0 {
		options.Flags = flags
	}
	return Start(o.t, o.world, options)
}

// Problems are the lines of a log that must not be: panics, data races, secrets.
func Problems(log string) []string {
	var found []string
	for _, bad := range []string{"panic:", "Observed a panic", "fatal error:", "DATA RACE", Canary} {
		if i := strings.Index(log, bad); i >= 0 {
			found = append(found, fmt.Sprintf("contains %q: …%s", bad, log[max(0, i-500):min(len(log), i+3000)]))
		}
	}
	return found
}

// Tail returns the last n bytes of a log, without the lines that every start writes for each controller.
func Tail(s string, n int) string {
	lines := slices.DeleteFunc(strings.Split(s, "\n"), func(l string) bool { return strings.Contains(l, `"msg":"Starting `) })
	s = strings.Join(lines, "\n")
	return s[max(0, len(s)-n):]
}
