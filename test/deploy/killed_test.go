// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// killPoints are requests of deploy after which it is killed, before it reads the answer.
var killPoints = []struct {
	name  string
	after kubeproxy.Match
}{
	{"the namespace", kubeproxy.Match{Verb: "patch", Resource: "namespaces"}},
	{"the third definition", kubeproxy.Match{Verb: "patch", Resource: "customresourcedefinitions", Nth: 3}},
	{"the ledger", kubeproxy.Match{Verb: "create", Resource: "configmaps"}},
	{"the first right", kubeproxy.Match{Verb: "patch", Resource: "clusterroles"}},
	{"the Deployment", kubeproxy.Match{Verb: "patch", Resource: "deployments"}},
}

func TestDelete_RemovesWhatAKilledDeployLeft(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	install := []string{"deploy", "--image", "registry.example.com/nexus-operator:v1", "--role-arn", "arn:aws:iam::" + account + ":role/mine"}
	for i, point := range extent.Sample(t, killPoints, 2) {
		t.Run(point.name, func(t *testing.T) {
			x := &person{Bed: x.For(t), aws: x.aws}
			x.killed(t, point.after, install...)
			if i == 0 { // the next installation records it
				x.wants(x.runs(install...), 0, "Namespace nexus-system", "record as created here")
			} else {
				x.wants(x.runs("delete", "--full", "--yes", "--dry-run"), 0, "Namespace nexus-system")
			}
			x.wants(x.runs("delete", "--full", "--yes"), 0, "The operator was removed.")
			x.sameAs(before)
			x.wants(x.runs("delete", "--full", "--yes"), 4, "there is no ConfigMap nexus-system/nexus-install-state")
		})
	}
}

// killed runs nexusctl until the API server has served a request, and kills it before the answer.
func (x *person) killed(t *testing.T, after kubeproxy.Match, args ...string) {
	t.Helper()
	kube, err := kubeproxy.Start(x.World.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer kube.Close()
	kubeconfig := t.TempDir() + "/kubeconfig"
	if err := world.WriteKubeconfig(kubeconfig, kube.Config()); err != nil {
		t.Fatal(err)
	}
	served, killed := make(chan struct{}), make(chan struct{})
	kube.Fault(after, kubeproxy.ForwardThen(func() { close(served); <-killed }))
	r := nexusctl.Start(t, x.World, []string{"AWS_ENDPOINT_URL=" + x.aws.URL(), "KUBECONFIG=" + kubeconfig}, "", args...)
	<-served
	r.Kill()
	close(killed)
}
