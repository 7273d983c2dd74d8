// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// soon sets how fast a verb ends that is interrupted.
const soon = 5 * time.Second

// interruptions interrupts every verb while the API server, or AWS, does not answer it.
func (x *stage) interruptions(t *testing.T) {
	x.each(t, func(t *testing.T, _ *cobra.Command, v verb) {
		if v.cluster {
			h := x.hand(t, x.kube)
			defer x.kube.Fault(kubeproxy.Match{Endpoint: h.name}, kubeproxy.Hang()).Remove()
			h.interrupted(t, v, v.args, func() bool {
				return len(x.kube.Calls().Filter(func(c kubeproxy.Call) bool { return c.Endpoint == h.name })) > 0
			})
			h.wroteNothing(t)
		}
		if v.aws && slices.Contains([]string{"token"}, v.args[0]) { // calls nothing
			return
		}
		if v.aws {
			t.Run("aws", func(t *testing.T) {
				h := x.hand(t, x.kube)
				defer x.World.AWS().Fault(emulator.Match{Endpoint: h.name}, emulator.Hang()).Remove()
				h.interrupted(t, v, v.args, func() bool { return len(x.World.AWS().Calls().From(h.name)) > 0 })
				h.wroteNothing(t)
			})
		}
	})
}

// interrupted begins a run, interrupts it as soon as it is where it is to be, and returns its answer.
func (h *hand) interrupted(t *testing.T, v verb, args []string, there func() bool) nexusctl.Answer {
	t.Helper()
	r := nexusctl.Start(t, h.World, h.environment(credentialsOfAdmin...), v.stdin, args...)
	h.For(t).Eventually(30*time.Second, "the run to be where it is interrupted", func() error {
		if there() {
			return nil
		}
		return errors.New("not yet")
	})
	a := r.Interrupt(soon)
	if a.Code != 130 {
		t.Errorf("exit code %d\n%s\n%s", a.Code, a.Out, a.Err)
	}
	if !strings.Contains(a.Err, "interrupted") && !strings.Contains(a.Err, "same command again") {
		t.Errorf("it does not say that it was interrupted:\n%s\n%s", a.Out, a.Err)
	}
	return a
}

// wait is a verb that waits, because what it waits for has no controller.
type wait struct {
	args []string
	// request is the last one before it waits, or the first of a wait that asks again and again; Verb and Resource alone.
	request kubeproxy.Match
	// left are texts that say what was done and how to go on.
	left []string
}

// interruptedWaits interrupts the verbs that wait, after what they have requested. The operator and the controllers of the cluster stand
// still.
func (x *stage) interruptedWaits(t *testing.T) {
	in, name := x.capability.Namespace, "ncap/"+x.capability.Name
	x.Op.Stop()
	if err := x.World.Kill(world.ControllerManager); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.World.Restart(world.ControllerManager); err != nil {
			t.Error(err)
		}
		x.Op = operator.FromDeployment(x, x.World, x.operator) // which outlives this part
	}()
	x.Edit(x.capability, func() { x.capability.Spec.Backend.Replicas = aws.Int32(4) }) // which no one sees
	again := []string{"run the command again"}
	all := x.verbs()
	for _, w := range []wait{
		{[]string{"monitor", name, "-n", in}, kubeproxy.Match{Verb: "watch", Resource: "events"}, []string{"Run the same command again"}},
		{[]string{"reconcile", name, "-n", in, "--wait"}, kubeproxy.Match{Verb: "get", Resource: "ssmparametersets"},
			[]string{"All its requests were made"}},
		{[]string{"plan", name, "-n", in, "--server"}, kubeproxy.Match{Verb: "create", Resource: "planrequests"},
			[]string{"has changed nothing"}},
		{append(slices.Clone(all["e2e"].args), "--from-step", "6", "--to-step", "6"), kubeproxy.Match{Verb: "watch", Resource: "events"},
			[]string{"To continue: nexusctl e2e --from-step=6", "interrupted in step 6. The steps before it are done."}},
		{all["rollout"].args, kubeproxy.Match{Verb: "patch", Resource: "deployments"}, []string{"Deployment " + in, "kubectl rollout status"}},
		{all["update"].args, kubeproxy.Match{Verb: "patch", Resource: "deployments"}, []string{"kubectl rollout status -n nexus-system"}},
		{all["deploy"].args, kubeproxy.Match{Verb: "patch", Resource: "deployments"}, again},
		{all["install-alb-controller"].args, kubeproxy.Match{Verb: "patch", Resource: "deployments"}, again},
		{all["delete-alb-controller"].args, kubeproxy.Match{Verb: "delete", Resource: "deployments"}, again},
		{all["delete"].args, kubeproxy.Match{Verb: "delete", Resource: "nexuscapabilities"}, again},
	} {
		t.Run(w.args[0], func(t *testing.T) {
			h := x.hand(t, x.kube)
			mark := x.kube.Mark()
			w.request.Endpoint = h.name
			a := h.interrupted(t, verb{}, w.args, func() bool {
				done := x.kube.Since(mark).Match(w.request)
				if len(done) == 0 {
					return false
				}
				one := done[len(done)-1]
				if w.request.Verb == "get" {
					one = done[0]
				}
				return one.Status != 0 && time.Since(one.Start) > time.Second
			})
			nexusctl.Answer{Out: a.Out, Err: a.Err, Code: a.Code}.Wants(t, 130, w.left...)
			if w.args[0] == "plan" {
				if n := len(x.kube.Since(mark).Match(kubeproxy.Match{Endpoint: h.name, Verb: "delete", Resource: "planrequests"})); n != 1 {
					t.Errorf("%d requests were deleted", n)
				}
			}
		})
	}
}
