// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/report"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// observe returns the capability of the example with every object done, apart from the changes of the edits.
func observe(t fatal, edits ...func(o *capability.Observed)) capability.Observed {
	c := minimal(withData)
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: "app.example.com", CertificateArn: "arn:aws:acm:eu-central-1:123456789012:certificate/a"}
	c.Generation = 1
	o := capability.Observed{Capability: c, Facts: facts(), Graph: compile(t, c, facts()), States: map[string]capability.State{}}
	for _, n := range o.Graph.Nodes() {
		o.States[n.ID] = capability.State{Applied: true, Ready: true, Live: n.Object, ARN: "arn:" + n.ID}
	}
	address(o.States, "Ingress/myapp-dev-app-ingress", "lb.example.com")
	for _, e := range edits {
		e(&o)
	}
	return o
}

func address(states map[string]capability.State, id, host string) {
	s := states[id]
	live := s.Live.DeepCopy()
	_ = unstructured.SetNestedSlice(live.Object, []any{map[string]any{"hostname": host}}, "status", "loadBalancer", "ingress")
	s.Live = live
	states[id] = s
}

// state sets one object's state.
func state(id string, s capability.State) func(*capability.Observed) {
	return func(o *capability.Observed) {
		if _, ok := o.States[id]; !ok {
			panic("no " + id)
		}
		o.States[id] = s
	}
}

// unusable returns an edit of the observed role of the workloads: it is as declared, but of no use to them for the reason of the state.
func unusable(s capability.State) func(*capability.Observed) {
	s.Applied, s.Ready = true, true
	return state("IAMRole/myapp-dev-app-role", s)
}

// without forgets objects by a prefix of their IDs, as before they were applied.
func without(prefixes ...string) func(*capability.Observed) {
	return func(o *capability.Observed) {
		for id := range o.States {
			for _, p := range prefixes {
				if strings.HasPrefix(id, p) {
					delete(o.States, id)
				}
			}
		}
	}
}

func ran(o *capability.Observed) {
	o.Capability.Status.Phase = nexusv1.PhaseRunning
	o.Capability.Status.History = []nexusv1.PhaseChange{{Phase: nexusv1.PhaseRunning}}
}

// summary is a status in the words a person would look for.
func summary(o capability.Observed) (nexusv1.NexusAICapabilityStatus, string) {
	st := *o.Capability.Status.DeepCopy()
	capability.Summarize(o).WriteTo(&st, o.Capability.Generation, noon)
	var ready string
	for _, c := range st.Conditions {
		if c.Type == status.Ready {
			ready = string(c.Status) + "/" + c.Reason
		}
	}
	name := ""
	if st.Step != nil {
		name = st.Step.Name
	}
	return st, fmt.Sprintf("%s %s %s ready=%s", st.Phase, st.Progress, name, ready)
}

func TestTheStatusTellsHowFarTheCapabilityIs(t *testing.T) {
	aws := []string{"DynamoDBTable/", "S3Bucket/", "Glue", "SSM", "Secrets", "IAMRole/"}
	apps := []string{"Deployment/", "Ingress/"}
	for name, tc := range map[string]struct {
		edits         []func(*capability.Observed)
		want, message string
	}{
		"everything is done": {nil, "Running 11/11 Ingress ready=True/Ready", "everything runs"},
		"nothing is there": {[]func(*capability.Observed){without("")},
			"Pending 1/11 DynamoDB ready=False/Progressing", "waiting for AWSProvider/myapp-dev"},
		"the provider is being checked": {[]func(*capability.Observed){without(append(aws, apps...)...), state("AWSProvider/myapp-dev", capability.State{Applied: true})},
			"Pending 2/11 DynamoDB ready=False/Progressing", "waiting for AWSProvider/myapp-dev"},
		"a table is being made": {[]func(*capability.Observed){without(apps...),
			state("DynamoDBTable/myapp-dev-license", capability.State{Applied: true, Reason: "Busy", Message: "the table is CREATING"})},
			"ProvisioningDataServices 7/11 DynamoDB ready=False/Progressing", "waiting for DynamoDBTable/myapp-dev-license: the table is CREATING"},
		"parameters lack": {[]func(*capability.Observed){without(append(apps, "SSM")...)},
			"ProvisioningSSM 7/11 SSM ready=False/Progressing", "waiting for SSMParameterSet/myapp-dev"},
		"secrets lack": {[]func(*capability.Observed){without(append(apps, "Secrets")...)},
			"ProvisioningSecrets 7/11 Secrets ready=False/Progressing", "waiting for SecretsManagerSecret/myapp-dev-anthropic"},
		"the role lacks": {[]func(*capability.Observed){without(append(apps, "IAMRole/myapp-dev-app-role")...)},
			"ProvisioningIAM 7/11 IAM ready=False/Progressing", "waiting for IAMRole/myapp-dev-app-role"},
		"the account lacks": {[]func(*capability.Observed){without(append(apps, "ServiceAccount/")...)},
			"Deploying 7/11 ServiceAccount ready=False/Progressing", "waiting for ServiceAccount/myapp-dev-app-sa"},
		"the backend rolls out": {[]func(*capability.Observed){without("Ingress/"),
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Reason: "Progressing", Message: "1 of 2 replicas are available"})},
			"DeployingBackend 9/11 Backend ready=False/Progressing", "waiting for Deployment/myapp-dev-backend: 1 of 2 replicas are available"},
		"the load balancer comes": {[]func(*capability.Observed){
			state("Ingress/myapp-dev-app-ingress", capability.State{Applied: true, Message: "the load balancer has no address yet"})},
			"DeployingFrontend 10/11 Ingress ready=False/Progressing", "waiting for Ingress/myapp-dev-app-ingress: the load balancer has no address yet"},
		"an update of what ran": {[]func(*capability.Observed){ran, edited,
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Message: "1 of 2 replicas are available"})},
			"Updating 10/11 Backend ready=False/Progressing", "waiting for Deployment/myapp-dev-backend: 1 of 2 replicas are available"},
		"a pod of what ran dies": {[]func(*capability.Observed){ran, settled,
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Message: "1 of 2 replicas are available"})},
			"Degraded 10/11 Backend ready=False/Progressing", "waiting for Deployment/myapp-dev-backend: 1 of 2 replicas are available"},
		"a pod of what was edited and ran dies": {[]func(*capability.Observed){ran, rolledOut,
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Message: "1 of 2 replicas are available"})},
			"Degraded 10/11 Backend ready=False/Progressing", "waiting for Deployment/myapp-dev-backend: 1 of 2 replicas are available"},
		"the operator rolls out pods that it makes anew": {[]func(*capability.Observed){ran, settled,
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Serving: true, Message: "updating, the previous version is serving: 2 of 2"})},
			"Updating 10/11 Backend ready=False/Progressing", "waiting for Deployment/myapp-dev-backend: updating, the previous version is serving: 2 of 2"},
		"an update stalls while the previous version serves": {[]func(*capability.Observed){ran, edited,
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Stalled: true, Serving: true, Reason: "ImagePullBackOff", Message: "update failed, the previous version is serving: no image"})},
			"Degraded 10/11 Backend ready=False/ImagePullBackOff", "Deployment/myapp-dev-backend: update failed, the previous version is serving: no image (NX-K8S-001)"},
		"an autoscaler wants more than there is room for": {[]func(*capability.Observed){ran,
			state("Deployment/myapp-dev-backend", capability.State{Applied: true, Ready: true, Reason: "Unschedulable", Message: "4 of the 6 replicas"})},
			"Running 11/11 Ingress ready=True/Ready", "everything runs; Deployment/myapp-dev-backend: 4 of the 6 replicas"},
		"a child stalls": {[]func(*capability.Observed){ran, without(apps...),
			state("S3Bucket/myapp-dev-call-data", capability.State{Applied: true, Stalled: true, Reason: "NameTaken", Message: "the name is taken: choose another"})},
			"Failed 7/11 S3 ready=False/NameTaken", "S3Bucket/myapp-dev-call-data: the name is taken: choose another (NX-SPEC-003)"},
		"two children stall": {[]func(*capability.Observed){
			state("S3Bucket/myapp-dev-call-data", capability.State{Stalled: true, Reason: "NameTaken", Message: "taken (NX-SPEC-003)"}),
			state("IAMRole/myapp-dev-app-role", capability.State{Stalled: true, Reason: "AccessDenied", Message: "denied"})},
			"Failed 9/11 S3 ready=False/NameTaken", "S3Bucket/myapp-dev-call-data: taken (and 1 more, see status.resources) (NX-SPEC-003)"},
		"what stalls is not done, even where it was": {[]func(*capability.Observed){
			state("S3Bucket/myapp-dev-call-data", capability.State{Applied: true, Ready: true, Stalled: true, Reason: "AccessDenied", Message: "denied"})},
			"Failed 10/11 S3 ready=False/AccessDenied", "S3Bucket/myapp-dev-call-data: denied (NX-IAM-001)"},
		"the input is wrong": {[]func(*capability.Observed){func(o *capability.Observed) {
			o.Graph, o.States, o.Err = nil, nil, status.Invalid("spec.version", "too long")
		}}, "Failed   ready=False/InvalidSpec", "spec.version: too long (NX-SPEC-001)"},
		"something passes after having run": {[]func(*capability.Observed){ran, func(o *capability.Observed) {
			o.Err = &status.Retrying{Reason: status.ReasonUnreachable, Cause: errors.New("no route")}
		}}, "Running 11/11 Ingress ready=False/Unreachable", "no route"},
		"it is suspended": {[]func(*capability.Observed){ran, func(o *capability.Observed) {
			o.Capability.Spec.Suspend, o.Graph, o.States = true, nil, nil
		}}, "Suspended   ready=False/Paused", "waiting for spec.suspend to be false"},
		"it is looked at for the first time": {[]func(*capability.Observed){func(o *capability.Observed) { o.Graph = nil }},
			"Pending   ready=False/Waiting", "waiting for the first look at the capability"},
		"the ingress goes": {[]func(*capability.Observed){ran, leaving("Ingress/myapp-dev-app-ingress")},
			"Deleting 0/11 Ingress ready=False/Deleting", "waiting for Ingress/myapp-dev-app-ingress to be gone"},
		"buckets go": {[]func(*capability.Observed){ran, leaving("S3Bucket/b", "S3Bucket/a")},
			"Deleting 9/11 S3 ready=False/Deleting", "waiting for S3Bucket/a (and 1 more) to be gone"},
		"the provider goes": {[]func(*capability.Observed){ran, leaving("AWSProvider/myapp-dev")},
			"Deleting 11/11  ready=False/Deleting", "waiting for AWSProvider/myapp-dev to be gone"},
		"a bucket cannot go": {[]func(*capability.Observed){ran, leaving("S3Bucket/a"),
			state("S3Bucket/a", capability.State{Applied: true, Stalled: true, Reason: "BucketNotEmpty", Message: "3 objects: empty it"})},
			"Deleting 9/11 S3 ready=False/BucketNotEmpty", "S3Bucket/a: 3 objects: empty it (NX-DATA-005)"},
		"all is gone but the finalizer": {[]func(*capability.Observed){ran, leaving()},
			"Deleting 11/11  ready=False/Deleting", "waiting for the objects to be gone"},
	} {
		t.Run(name, func(t *testing.T) {
			st, got := summary(observe(t, tc.edits...))
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if st.Message != tc.message {
				t.Errorf("message: got  %s\nwant %s", st.Message, tc.message)
			}
		})
	}
}

// rolledOut makes the last edit of the capability rolled out.
func rolledOut(o *capability.Observed) {
	settled(o)
	o.Capability.Status.Rollout = &nexusv1.RolloutStatus{Generation: o.Capability.Generation, State: nexusv1.RolloutComplete}
}

// edited makes the last edit of the capability not rolled out yet.
func edited(o *capability.Observed) {
	o.Capability.Generation = o.Capability.Status.ObservedGeneration + 1
}

// settled makes the last edit of the capability already observed.
func settled(o *capability.Observed) {
	o.Capability.Status.ObservedGeneration = o.Capability.Generation
}

func leaving(ids ...string) func(*capability.Observed) {
	return func(o *capability.Observed) {
		o.Deleting, o.Graph, o.States = true, nil, map[string]capability.State{}
		for _, id := range ids {
			o.States[id] = capability.State{Applied: true, Reason: status.ReasonDeleting}
			o.States[id] = capability.State{Applied: true}
		}
	}
}

func conditionOf(st nexusv1.NexusAICapabilityStatus, t string) string {
	c := meta.FindStatusCondition(st.Conditions, t)
	if c == nil {
		return "none"
	}
	return string(c.Status) + "/" + c.Reason + " " + c.Message
}

func TestEveryPartHasItsCondition(t *testing.T) {
	drifting := func(id string) func(o *capability.Observed) {
		return func(o *capability.Observed) {
			s := o.States[id]
			s.Live = s.Live.DeepCopy()
			_ = unstructured.SetNestedSlice(s.Live.Object, []any{map[string]any{"path": "Tags"}}, "status", "drift")
			o.States[id] = s
		}
	}
	placeholder := func(o *capability.Observed) {
		s := o.States["SecretsManagerSecret/myapp-dev-openai"]
		s.Live = s.Live.DeepCopy()
		_ = unstructured.SetNestedField(s.Live.Object, false, "status", "populated")
		o.States["SecretsManagerSecret/myapp-dev-openai"] = s
	}
	for name, tc := range map[string]struct {
		edit      func(*capability.Observed)
		condition string
		want      string
	}{
		"all data": {func(*capability.Observed) {}, nexusv1.ConditionDataServicesReady, "True/Ready "},
		"its own namespace": {func(*capability.Observed) {}, nexusv1.ConditionNamespaceReady,
			"True/Ready the capability's own namespace"},
		"no data services": {func(o *capability.Observed) {
			o.Capability.Spec.DataServices = nil
			o.Graph, _ = capability.Compile(o.Capability, o.Facts)
		}, nexusv1.ConditionDataServicesReady, "True/Skipped not asked for"},
		"a backend that waits": {without("Deployment/", "IAMRole/myapp-dev-app-role"), nexusv1.ConditionBackendReady,
			"False/NotStarted Deployment/myapp-dev-backend waits for IAMRole/myapp-dev-app-role"},
		"a sick frontend": {state("Deployment/myapp-dev-frontend", capability.State{Applied: true, Stalled: true, Reason: "ImagePullBackOff", Message: "push it"}),
			nexusv1.ConditionFrontendReady, "False/ImagePullBackOff Deployment/myapp-dev-frontend: push it (NX-K8S-001)"},
		"an identity half there": {without("ServiceAccount/"), nexusv1.ConditionIdentityReady, "False/Progressing ServiceAccount/myapp-dev-app-sa"},
		"a role that pods cannot use": {unusable(capability.State{Stalled: true, Reason: "OIDCProviderMissing", Message: "create it"}),
			nexusv1.ConditionIdentityReady, "False/OIDCProviderMissing IAMRole/myapp-dev-app-role: create it (NX-IAM-011)"},
		"which keeps it from being Ready": {unusable(capability.State{Stalled: true, Reason: "OIDCProviderMissing", Message: "create it"}),
			status.Ready, "False/OIDCProviderMissing IAMRole/myapp-dev-app-role: create it (NX-IAM-011)"},
		"a role of which nothing is known": {unusable(capability.State{Stalled: true, Unknown: true, Reason: "AccessDenied", Message: "allow it"}),
			nexusv1.ConditionIdentityReady, "Unknown/AccessDenied IAMRole/myapp-dev-app-role: allow it (NX-IAM-001)"},
		"nothing known for now": {unusable(capability.State{Unknown: true, Reason: "Retrying", Message: "no answer"}),
			nexusv1.ConditionIdentityReady, "Unknown/Retrying IAMRole/myapp-dev-app-role: no answer (NX-AWS-003)"},
		"nothing known is not Ready": {unusable(capability.State{Unknown: true, Reason: "Retrying", Message: "no answer"}),
			status.Ready, "False/Retrying waiting for IAMRole/myapp-dev-app-role: no answer (NX-AWS-003)"},
		"placeholders": {placeholder, nexusv1.ConditionSecretsPopulated,
			"False/PlaceholdersEmpty to be filled in: myapp/dev/openai; use nexusctl secrets set, or spec.secrets[].valueFrom (NX-DATA-013)"},
		"placeholders do not gate": {placeholder, status.Ready, "True/Ready everything runs; secrets to be filled in: myapp/dev/openai"},
		"all filled in":            {func(*capability.Observed) {}, nexusv1.ConditionSecretsPopulated, "True/Populated "},
		"no secrets yet":           {without("Secrets"), nexusv1.ConditionSecretsPopulated, "False/NotStarted "},
		"no secrets at all": {func(o *capability.Observed) {
			o.Capability.Spec.DefaultSecrets = nexusv1.DefaultSecretsNone
			o.Graph, _ = capability.Compile(o.Capability, o.Facts)
		}, nexusv1.ConditionSecretsPopulated, "True/Skipped the capability has no secrets"},
		"no secrets do not gate": {func(o *capability.Observed) {
			o.Capability.Spec.DefaultSecrets = nexusv1.DefaultSecretsNone
			o.Graph, _ = capability.Compile(o.Capability, o.Facts)
		}, status.Ready, "True/Ready everything runs"},
		"no drift": {func(*capability.Observed) {}, nexusv1.ConditionDriftFree, "True/Ready "},
		"a store that is gone": {func(o *capability.Observed) {
			s := o.States["S3Bucket/myapp-dev-call-data"]
			s.Ready, s.Stalled, s.Reason = false, true, status.ReasonMissing
			o.States["S3Bucket/myapp-dev-call-data"] = s
		}, nexusv1.ConditionDriftFree, "False/Missing S3Bucket/myapp-dev-call-data existed in AWS and is gone (NX-DATA-001)"},
		"drift": {drifting("S3Bucket/myapp-dev-call-data"), nexusv1.ConditionDriftFree,
			"False/Drift AWS differs from what is declared, see status.drift of S3Bucket/myapp-dev-call-data (NX-AWS-010)"},
		"in deletion": {leaving("S3Bucket/a"), nexusv1.ConditionBackendReady, "False/Deleting "},
	} {
		t.Run(name, func(t *testing.T) {
			st, _ := summary(observe(t, tc.edit))
			if got := conditionOf(st, tc.condition); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.condition, got, tc.want)
			}
		})
	}
}

func TestEndpointsAreShownOnceTheyAnswer(t *testing.T) {
	noIngress := func(o *capability.Observed) {
		o.Capability.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
		o.Graph, _ = capability.Compile(o.Capability, o.Facts)
	}
	for name, tc := range map[string]struct {
		edits []func(*capability.Observed)
		want  string
	}{
		"host and certificate": {nil, "https://app.example.com"},
		"not yet":              {[]func(*capability.Observed){without("Ingress/")}, ""},
		"a wildcard host": {[]func(*capability.Observed){func(o *capability.Observed) { o.Capability.Spec.Ingress.Host = "*.example.com" }},
			"https://lb.example.com"},
		"no certificate": {[]func(*capability.Observed){func(o *capability.Observed) { o.Capability.Spec.Ingress = nil }}, "http://lb.example.com"},
		"without an ingress": {[]func(*capability.Observed){noIngress, func(o *capability.Observed) {
			address(o.States, "Service/myapp-dev-frontend-svc", "nlb.example.com")
		}}, "http://nlb.example.com:8080"},
		"without an ingress nor address": {[]func(*capability.Observed){noIngress}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			st, _ := summary(observe(t, tc.edits...))
			if st.Endpoints.URL != tc.want || st.Endpoints.BackendInternal != "http://myapp-dev-backend-svc-internal.myapp-dev.svc:8000" {
				t.Errorf("got %+v, want %s", st.Endpoints, tc.want)
			}
		})
	}
	if st, _ := summary(observe(t, ran, leaving("S3Bucket/a"))); st.Endpoints.URL != "" {
		t.Errorf("in deletion it still answers at %s", st.Endpoints.URL)
	}
}

func TestAPassingFailureKeepsReadyUntilItLasts(t *testing.T) {
	st, _ := summary(observe(t))
	o := observe(t, func(o *capability.Observed) {
		o.Capability.Status = st
		o.Err = &status.Retrying{Reason: status.ReasonThrottled, Cause: errors.New("slow down")}
	})
	capability.Summarize(o).WriteTo(&st, 1, noon)
	if !st.Ready || st.Phase != nexusv1.PhaseRunning {
		t.Errorf("a throttle made it %s, ready %v", st.Phase, st.Ready)
	}
	o.Capability.Status = st
	lasting := capability.Summarize(o)
	lasting.FailingSince = noon
	lasting.WriteTo(&st, 1, noon.Add(time.Hour))
	if st.Ready || st.Phase != nexusv1.PhaseFailed {
		t.Errorf("an hour later it is %s, ready %v", st.Phase, st.Ready)
	}
}

func TestAPassingFailureIsReportedWhileTheCapabilityIsReady(t *testing.T) {
	throttled := func(o *capability.Observed) {
		for id, s := range o.States {
			if strings.HasPrefix(id, "DynamoDBTable/") {
				s.Reason, s.Message = status.ReasonThrottled, "AWS wants fewer calls"
				o.States[id] = s
			}
		}
	}
	st, _ := summary(observe(t, throttled))
	if !st.Ready || st.Phase != nexusv1.PhaseRunning || !regexp.MustCompile(`^everything runs; .*not seen lately: DynamoDBTable/\S+: AWS wants fewer calls \(and 2 more, see status.resources\)$`).MatchString(st.Message) {
		t.Errorf("ready %t, %s: %s", st.Ready, st.Phase, st.Message)
	}
	reported := 0
	for _, r := range st.Resources {
		if r.State == nexusv1.ResourceReady && r.Reason == status.ReasonThrottled {
			reported++
		}
	}
	if reported != 3 {
		t.Errorf("%d resources report it: %+v", reported, st.Resources)
	}
	if calm, _ := summary(observe(t)); strings.Contains(calm.Message, "not seen lately") {
		t.Errorf("message %q", calm.Message)
	}
}

func TestSummarize_AnAutoscalerThatDoesNotScaleIsTold(t *testing.T) {
	st, _ := summary(observe(t, func(o *capability.Observed) {
		for id, s := range o.States {
			if strings.HasPrefix(id, "Deployment/") {
				s.Reason, s.Message = status.ReasonAutoscalerInactive, "does not scale"
				o.States[id] = s
			}
		}
	}))
	if !st.Ready || st.Phase != nexusv1.PhaseRunning || !regexp.MustCompile(`everything runs; (.*; )?Deployment/\S+: does not scale \(and 1 more`).MatchString(st.Message) || strings.Contains(st.Message, "not seen lately") {
		t.Errorf("ready %t, %s: %s", st.Ready, st.Phase, st.Message)
	}
}

func TestSummarize_PodsWithoutCredentialsAreNotCalledWell(t *testing.T) {
	st, _ := summary(observe(t, func(o *capability.Observed) {
		for id, s := range o.States {
			if strings.HasPrefix(id, "Deployment/") {
				s.NoCredentials = "1 of 2 pods"
				o.States[id] = s
			}
		}
	}))
	if !strings.HasPrefix(st.Message, "the workloads run without AWS credentials, see condition CredentialsInPods") || strings.Contains(st.Message, "everything runs") {
		t.Errorf("message %q", st.Message)
	}
}

func TestHistoryKeepsTheLastTwentyChanges(t *testing.T) {
	var h []nexusv1.PhaseChange
	for i := range 50 {
		phase := nexusv1.PhaseRunning
		if i%2 == 0 {
			phase = nexusv1.PhaseUpdating
		}
		h = report.AppendHistory(h, phase, "R", noon.Add(time.Duration(i)*time.Minute))
		h = report.AppendHistory(h, phase, "other", noon.Add(time.Hour))
	}
	if len(h) != 20 || h[19].Phase != nexusv1.PhaseRunning || !h[19].Time.Time.Equal(noon.Add(49*time.Minute)) || h[19].Reason != "R" {
		t.Errorf("got %d changes, the last %+v", len(h), h[len(h)-1])
	}
}

// anyObserved draws any states at all for the objects of any capability.
func anyObserved(t *rapid.T) capability.Observed {
	c := anyCapability().Draw(t, "capability")
	o := capability.Observed{Capability: c, Facts: facts(), Graph: compile(t, c, facts()), States: map[string]capability.State{}}
	often := rapid.IntRange(0, 8).Draw(t, "often")
	for _, n := range o.Graph.Nodes() {
		s := capability.State{Applied: true, Ready: true, Live: n.Object}
		if rapid.IntRange(0, 9).Draw(t, "dice") < often {
			s.Applied, s.Ready = rapid.Bool().Draw(t, "applied"), rapid.Bool().Draw(t, "ready")
			s.Stalled = rapid.IntRange(0, 9).Draw(t, "stalled") == 0
			s.Reason = rapid.SampledFrom([]string{"", "Busy", "NameTaken"}).Draw(t, "reason")
			s.Message = rapid.StringN(0, 40, 2000).Draw(t, "message")
			if !s.Applied {
				s.Live = nil
			}
		}
		o.States[n.ID] = s
	}
	if rapid.Bool().Draw(t, "ran") {
		ran(&o)
	}
	return o
}

var (
	reasonRule = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	knownPhase = map[nexusv1.Phase]bool{
		nexusv1.PhasePending: true, nexusv1.PhaseProvisioningDataServices: true, nexusv1.PhaseProvisioningSSM: true, nexusv1.PhaseProvisioningSecrets: true,
		nexusv1.PhaseProvisioningCognito: true, nexusv1.PhaseProvisioningIAM: true, nexusv1.PhaseDeploying: true, nexusv1.PhaseDeployingBackend: true, nexusv1.PhaseDeployingFrontend: true,
		nexusv1.PhaseUpdating: true, nexusv1.PhaseDegraded: true, nexusv1.PhaseRunning: true, nexusv1.PhaseFailed: true,
	}
)

func TestReadyIsTrueExactlyWhenEveryObjectIsDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyObserved(t)
		all, stalled := true, false
		for _, s := range o.States {
			all = all && s.Applied && s.Ready && !s.Stalled
			stalled = stalled || s.Stalled
		}
		st := nexusv1.NexusAICapabilityStatus{}
		capability.Summarize(o).WriteTo(&st, 7, noon)
		if st.Ready != all || (st.Phase == nexusv1.PhaseRunning) != all || (st.Phase == nexusv1.PhaseFailed) != stalled {
			t.Fatalf("ready %v, phase %s, but done %v, stalled %v", st.Ready, st.Phase, all, stalled)
		}
		if all != (st.Step.Current == 11) && !stalled && othersDone(o) {
			t.Fatalf("%d steps of 11 are done, ready %v", st.Step.Current, st.Ready)
		}
		if !knownPhase[st.Phase] {
			t.Fatalf("the phase %q", st.Phase)
		}
		for _, c := range st.Conditions {
			if !reasonRule.MatchString(c.Reason) || c.ObservedGeneration != 7 || len(c.Message) > 1024 {
				t.Fatalf("the condition %+v", c)
			}
			if all && c.Status != metav1.ConditionTrue && c.Type != status.Reconciling && c.Type != status.Stall {
				t.Fatalf("ready, but %+v", c)
			}
		}
		if len(st.Resources) != o.Graph.Len() || len(st.Message) > 1024 {
			t.Fatalf("%d resources of %d", len(st.Resources), o.Graph.Len())
		}
	})
}

// othersDone reports whether all that is in no step is done: the provider and the policies.
func othersDone(o capability.Observed) bool {
	for _, n := range o.Graph.Nodes() {
		if step, inStep := parts.All.Step(n.Step); !(inStep && step.Number > 0) && !(o.States[n.ID].Applied && o.States[n.ID].Ready) {
			return false
		}
	}
	return true
}

func TestTheSameStatesChangeNothingTheSecondTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyObserved(t)
		o.Capability.Generation = 7
		capability.Summarize(o).WriteTo(&o.Capability.Status, 7, noon)
		first := o.Capability.Status.DeepCopy()
		capability.Summarize(o).WriteTo(&o.Capability.Status, 7, noon.Add(time.Second))
		if !equality.Semantic.DeepEqual(*first, o.Capability.Status) {
			t.Fatalf("first %+v\nthen %+v", *first, o.Capability.Status)
		}
	})
}

func TestOnlyProgress_WhatPeopleWaitForIsReportedAtOnce(t *testing.T) {
	base := nexusv1.NexusAICapabilityStatus{Phase: nexusv1.PhaseDeploying, Message: "waiting for a", ObservedGeneration: 2,
		Conditions: []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionFalse, Reason: "Progressing"}}}
	for name, tc := range map[string]struct {
		change func(s *nexusv1.NexusAICapabilityStatus)
		want   bool
	}{
		"a message":       {func(s *nexusv1.NexusAICapabilityStatus) { s.Message = "waiting for b" }, true},
		"a resource":      {func(s *nexusv1.NexusAICapabilityStatus) { s.Resources = []nexusv1.ResourceStatus{{}} }, true},
		"a phase":         {func(s *nexusv1.NexusAICapabilityStatus) { s.Phase = nexusv1.PhaseDeployingBackend }, false},
		"ready":           {func(s *nexusv1.NexusAICapabilityStatus) { s.Ready = true }, false},
		"a generation":    {func(s *nexusv1.NexusAICapabilityStatus) { s.ObservedGeneration++ }, false},
		"a handled check": {func(s *nexusv1.NexusAICapabilityStatus) { s.LastHandledReconcileAt = "now" }, false},
		"a rollout":       {func(s *nexusv1.NexusAICapabilityStatus) { s.Rollout = &nexusv1.RolloutStatus{Generation: 2} }, false},
		"a stall": {func(s *nexusv1.NexusAICapabilityStatus) {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: status.Stall, Status: metav1.ConditionTrue})
		}, false},
		"Ready is Unknown": {func(s *nexusv1.NexusAICapabilityStatus) { s.Conditions[0].Status = metav1.ConditionUnknown }, false},
	} {
		after := *base.DeepCopy()
		tc.change(&after)
		if got := capability.OnlyProgress(base, after); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
