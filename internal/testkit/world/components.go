// SPDX-License-Identifier: Apache-2.0

package world

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Names of the components, for Kill and Restart.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	Moto              = "moto"
)

// controllers lists the controllers that act on the objects that an operator creates; the API server's proxy of services still reads
// Endpoints. Left out are the ones about real nodes, volumes and certificates; without node-lifecycle a machine that stalls for a minute
// does not turn its fake nodes NotReady.
var controllers = []string{
	"clusterrole-aggregation-controller", "cronjob-controller", "daemonset-controller", "deployment-controller",
	"disruption-controller", "endpoints-controller", "endpointslice-controller", "garbage-collector-controller",
	"horizontal-pod-autoscaler-controller", "job-controller", "namespace-controller", "pod-garbage-collector-controller",
	"replicaset-controller", "replicationcontroller-controller", "resourcequota-controller",
	"root-ca-certificate-publisher-controller", "serviceaccount-controller", "serviceaccount-token-controller",
	"statefulset-controller", "ttl-after-finished-controller", "validatingadmissionpolicy-status-controller",
}

// components are the programs of a world, with their folder and their ports.
type components struct {
	options   Options
	dir       string
	ports     []*portLock
	processes []*process // in order of start
}

// Indexes of the ports.
const (
	portEtcd = iota
	portPeer
	portAPI
	portMoto
	portCount
)

func (c *components) reservePorts() error {
	for range portCount {
		p, err := reservePort()
		if err != nil {
			return err
		}
		c.ports = append(c.ports, p)
	}
	return nil
}

// stop kills every component, waits for their end and frees the ports.
func (c *components) stop() error {
	var errs []error
	for _, p := range slices.Backward(c.processes) {
		errs = append(errs, p.kill())
	}
	for _, p := range c.ports {
		p.release()
	}
	c.ports = nil
	return errors.Join(errs...)
}

// named returns the component of a name; nil when this world has none.
func (c *components) named(name string) *process {
	for _, p := range c.processes {
		if p.name == name {
			return p
		}
	}
	return nil
}

// etcd keeps its data on a temporary folder and never waits for the
// disk: killing the process loses nothing, losing the machine may. It keeps the
// writes since the last snapshot in memory, which must hold benchmarks that
// write objects of a mebibyte.
func (c *components) etcd() *process {
	client, peer := c.loopback("http", portEtcd), c.loopback("http", portPeer)
	return c.add(Etcd, "etcd",
		"--data-dir="+filepath.Join(c.dir, "etcd"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
		"--unsafe-no-fsync=true", "--log-level=warn", "--quota-backend-bytes=4294967296", "--snapshot-count=1000",
		"--snapshot-catchup-entries=100")
}

func (c *components) apiServer() *process {
	server := c.loopback("https", portAPI)
	args := []string{
		"--etcd-servers=" + c.loopback("http", portEtcd),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		fmt.Sprintf("--secure-port=%d", c.ports[portAPI].port),
		"--tls-cert-file=" + c.file("server.crt"), "--tls-private-key-file=" + c.file("server.key"),
		"--client-ca-file=" + c.file("ca.crt"), "--token-auth-file=" + c.file(tokensFile),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/16",
		"--service-account-issuer=" + c.options.Issuer, "--service-account-jwks-uri=" + server + "/openid/v1/jwks",
		"--api-audiences=" + c.options.Issuer + ",sts.amazonaws.com",
		"--service-account-key-file=" + c.file("sa.key"), "--service-account-signing-key-file=" + c.file("sa.key"),
		"--audit-policy-file=" + c.file("audit-policy.yaml"), "--audit-log-path=" + c.file("audit.log"),
		"--audit-log-mode=blocking", "--audit-log-maxsize=100000",
		"--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000",
		// Its queues take a sixth of the processor time of a request; the limits above are never reached.
		"--enable-priority-and-fairness=false",
		"--profiling=false",
	}
	return c.add(APIServer, "kube-apiserver", append(args, c.options.APIServerArgs...)...)
}

func (c *components) controllerManager() *process {
	return c.add(ControllerManager, "kube-controller-manager",
		"--kubeconfig="+c.file(ControllerManager+".kubeconfig"),
		"--controllers="+strings.Join(controllers, ","),
		"--service-account-private-key-file="+c.file("sa.key"), "--root-ca-file="+c.file("ca.crt"),
		"--leader-elect=false", "--use-service-account-credentials=false",
		"--kube-api-qps=1000", "--kube-api-burst=2000",
		"--concurrent-namespace-syncs=20", "--secure-port=0", "--profiling=false")
}

func (c *components) scheduler() *process {
	return c.add(Scheduler, "kube-scheduler",
		"--kubeconfig="+c.file(Scheduler+".kubeconfig"),
		"--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000",
		"--secure-port=0", "--profiling=false")
}

func (c *components) kwok() *process {
	p := c.add(Kwok, "kwok",
		"--kubeconfig="+c.file(Kwok+".kubeconfig"),
		"--config="+c.file("stages.yaml"), "--manage-all-nodes=true", "--node-lease-duration-seconds=0")
	// Two of its goroutines may write a map of github.com/wzshiming/easycel at once, which ends a Go program: it was seen beside a
	// build on all processors.
	p.crashes = 3
	// Its home would otherwise add a user's own configuration.
	p.env = append(p.env, "HOME="+c.dir, "KWOK_WORKDIR="+c.file("kwok-home"))
	return p
}

// imagesFile has the machine images that moto knows, in moto's form. Its own list has 1,161 of them for every account and region:
// a quarter of a second, twice for each test that empties AWS.
const (
	imagesFile = "images.json"
	images     = `[{"ami_id": "ami-12c6146b", "name": "test-bed", "description": "An image of the test bed", "image_location": "amazon/test-bed", "image_type": "machine",
	"owner_id": "801119661308", "public": true, "state": "available", "architecture": "x86_64", "platform": "windows", "hypervisor": "xen",
	"virtualization_type": "hvm", "root_device_type": "ebs", "root_device_name": "/dev/sda1", "sriov": "simple"}]
`
)

func (c *components) moto() *process {
	p := c.add(Moto, "moto_server", "-H", "127.0.0.1", "-p", fmt.Sprint(c.ports[portMoto].port))
	if c.options.ManagedPolicies {
		p.env = append(p.env, "MOTO_IAM_LOAD_MANAGED_POLICIES=true")
	}
	p.env = append(p.env, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1", "MOTO_AMIS_PATH="+c.file(imagesFile))
	p.env = append(p.env, "MOTO_DISABLE_GLOBAL_CORS=true")           // no browser asks
	p.env = append(p.env, "MOTO_S3_ALLOW_CROSSACCOUNT_ACCESS=false") // as in AWS, unless a bucket policy allows it
	p.env = append(p.env, c.options.MotoEnv...)
	return p
}

// defaultGOGC lets the Go programs of the world collect garbage at five times their live memory. They hold little and allocate much, and
// share the cores with the tested programs.
const defaultGOGC = 400

// memoryLimit limits the memory that garbage takes in each of them: with a few hundred objects of a mebibyte, the API server would
// otherwise take more than a machine has.
const memoryLimit = "6GiB"

func (c *components) add(name, program string, args ...string) *process {
	p := &process{name: name, path: filepath.Join(c.options.Programs, program), args: args,
		env: []string{fmt.Sprintf("GOGC=%d", cmp.Or(c.options.GOGC, defaultGOGC)), "GOMEMLIMIT=" + memoryLimit}, dir: c.dir}
	c.processes = append(c.processes, p)
	return p
}

func (c *components) loopback(scheme string, port int) string {
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, c.ports[port].port)
}

func (c *components) kubeconfig() string { return c.file("kubeconfig") }

func (c *components) file(name string) string { return filepath.Join(c.dir, name) }

func (c *components) logf(format string, args ...any) {
	fmt.Fprintf(c.options.Log, format+"\n", args...)
}
