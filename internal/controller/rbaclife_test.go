// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/testkit/ekswebhook"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestALifeUsesEveryRightThatTheOperatorHas(t *testing.T) {
	_, port, err := net.SplitHostPort(world.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, "--types="+streamType, "--leader-elect=true", "--eks-cluster-name=production", "--metrics-bind-address=:"+port,
		"--workload-namespace-quota=pods=50", "--tls-assessor-image="+assessorImage)
	// An operator of another test may have made the key already, and signs its first record in a zone with it.
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Namespace, Name: reconciler.SigningKeySecret}}
	if err := client.IgnoreNotFound(h.c.Delete(h.ctx(), key)); err != nil {
		t.Fatal(err)
	}
	h.install(append(allEngines, enginecrds.EKSAutoMode, enginecrds.GatewayAPI, enginecrds.AWSLoadBalancer, enginecrds.OtherPolicies)...)
	h.make(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "auto-rights",
		Labels: map[string]string{"eks.amazonaws.com/compute-type": "auto"}}})
	h.makeCilium()
	h.leads()
	h.measured("https://127.0.0.1:" + port + "/metrics")
	h.cluster("production")
	h.agent()
	var skipped atomic.Bool // one pod starts without credentials, and is evicted
	ekswebhook.StartFailing(t, h.w, "production", func(p *corev1.Pod) bool {
		return p.Namespace == "rights-dev" && skipped.CompareAndSwap(false, true)
	})
	h.livesOfACapability()
	judged := func(r right) bool { return slices.Contains(ofCapabilities, r.group) }
	if extent.IsFull(t) {
		h.lifeOfAGateway("rightsgate")
		h.livesOfBindings()
		h.livesInCEL()
		h.controls()
		h.livesOfCredentials()
		judged = func(right) bool { return true }
	}
	h.stop()
	all := roles(t)
	granted := rightsOf(all["nexus-operator-leader-election"], all["nexus-operator-secrets"], all["nexus-operator-signing-key"])
	maps.Copy(granted, operatorsRights(all))
	unused(t, granted, h.used(), judged)
}

// ofCapabilities are the API groups with rights that only the lives of a capability need. In the sample only these are judged.
var ofCapabilities = []string{"apps", "batch", "autoscaling", "policy", "nexus.ai"}

// makeCilium makes the DaemonSet of Cilium, without which its kinds hold nothing. No node takes a pod of it.
func (h *home) makeCilium() {
	labels := map[string]string{"k8s-app": "cilium"}
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cilium"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent", Image: "cilium"}}
	d.Spec.Template.Spec.NodeSelector = map[string]string{"testbed.nexus.ai/network-plugin": "simulated"}
	h.make(d)
}

// used counts the operator's requests since the start by the rights that they needed.
func (h *home) used() map[right]int {
	h.Helper()
	events, err := h.w.Audit().Since(world.AuditMark(h.began), world.AuditFilter{User: operator.User})
	if err != nil {
		h.Fatal(err)
	}
	out := map[right]int{}
	for _, e := range events {
		r := right{e.Group, strings.TrimSuffix(e.Resource+"/"+e.Subresource, "/"), e.Verb}
		if e.Resource == "" {
			r.resource, _, _ = strings.Cut(e.URI, "?")
		}
		if out[r]++; e.Verb == "patch" && e.Code == http.StatusCreated {
			r.verb = "create"
			out[r]++
		}
	}
	return out
}

// leads waits for the lease to be held.
func (h *home) leads() {
	h.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Namespace, Name: "nexus-operator.nexus.ai"}}
	h.eventually("a leader", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(lease), lease); err != nil {
			return err
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			return fmt.Errorf("%+v", lease.Spec)
		}
		return nil
	})
}

// measured reads the metrics as a person unknown, a person without the right, and a person with it.
func (h *home) measured(url string) {
	h.Helper()
	c, err := kubernetes.NewForConfig(h.w.Config())
	if err != nil {
		h.Fatal(err)
	}
	ns := h.namespace(nil)
	h.make(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics-" + ns},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "reader"}},
	})
	h.eventually("the right to read metrics", func() error {
		answer, err := c.AuthorizationV1().SubjectAccessReviews().Create(h.ctx(),
			&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:                  "system:serviceaccount:" + ns + ":reader",
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
			}}, metav1.CreateOptions{})
		if err == nil && !answer.Status.Allowed {
			err = fmt.Errorf("%+v", answer.Status)
		}
		return err
	})
	scraper := &http.Client{Timeout: 10 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, who := range []struct {
		name string
		code int
	}{{"", http.StatusUnauthorized}, {"stranger", http.StatusForbidden}, {"reader", http.StatusOK}} {
		request, err := http.NewRequestWithContext(h.ctx(), http.MethodGet, url, nil)
		if err != nil {
			h.Fatal(err)
		}
		if who.name != "" {
			h.make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: who.name}})
			token, err := c.CoreV1().ServiceAccounts(ns).CreateToken(h.ctx(), who.name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
			if err != nil {
				h.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+token.Status.Token)
		}
		h.eventually("an answer of the metrics server", func() error { // it starts beside the controllers
			answer, err := scraper.Do(request)
			if err != nil {
				return err
			}
			if _ = answer.Body.Close(); answer.StatusCode != who.code {
				return fmt.Errorf("metrics for %q: %s", who.name, answer.Status)
			}
			return nil
		})
	}
}

// livesOfACapability is one with everything that there is, edited, and removed.
func (h *home) livesOfACapability() {
	h.Helper()
	dns := h.declared("dnsManipulation", intentv1alpha1.Audit, nil)
	c := example("rights")
	two := int32(2)
	c.Spec.Backend.Replicas = &two
	c.Spec.Frontend.Autoscaling = &nexusv1.AutoscalingSpec{Max: 4}
	c.Spec.EnableCognito, c.Spec.Cognito = true, &nexusv1.CognitoSpec{CallbackURLs: []nexusv1.SignInURL{"https://rights.example.com/callback"}}
	h.zone("example.com")
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: "rights.example.com", HostedZoneName: "example.com"}
	c.Spec.DataServices.KMS = &nexusv1.KMSSpec{}
	c.Spec.DataServices.Queues = []nexusv1.QueueSpec{{Name: "jobs"}}
	c.Spec.DataServices.Topics = []nexusv1.TopicSpec{{Name: "news", SubscribeQueues: []nexusv1.QueueName{"jobs"}}}
	once, nightly := nexusv1.NamedComponentSpec{Name: "once", Type: nexusv1.ComponentJob},
		nexusv1.NamedComponentSpec{Name: "nightly", Type: nexusv1.ComponentCronJob, Schedule: "0 3 * * *"}
	once.Image, nightly.Image = "once:1", "nightly:1"
	c.Spec.Components = []nexusv1.NamedComponentSpec{once, nightly}
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: dns.Name}}}
	c.Spec.Identity = &nexusv1.IdentitySpec{Mode: nexusv1.IdentityPodIdentity}
	h.classParameters("elbv2.k8s.aws", "v1beta1", "dualstack")
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	h.recordsForIPv6(c.Namespace, true)
	h.classParameters("eks.amazonaws.com", "v1", "ipv4")
	h.recordsForIPv6(c.Namespace, false)
	q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{Name: "check", Namespace: c.Namespace},
		Spec: nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: "NexusAICapability", Name: c.Name}}}}
	h.create(q)
	h.shows(q, "Ready", "True", "Ready")
	h.alter(c, func() {
		c.Spec.Backend.Image, c.Spec.DataServices.Glue, c.Spec.DataServices.Queues, c.Spec.DataServices.Topics = "back:2", nil, nil, nil
		c.Spec.EnableCognito, c.Spec.Cognito, c.Spec.Ingress = false, nil, nil
		c.Spec.Components[0].Image, c.Spec.Components[1].Schedule = "once:2", "0 4 * * *"
		c.Spec.DataServices.KMS, c.Annotations = nil, map[string]string{"nexus.ai/delete-data": "rights-dev-data"}
	})
	h.shows(c, "Ready", "True", "Ready")
	h.remove(c)
	h.gone(corev1.SchemeGroupVersion.WithKind("Namespace"), "", "rights-dev")
}

// zone makes a hosted zone as an administrator would.
func (h *home) zone(name string) string {
	h.Helper()
	api := route53.NewFromConfig(aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(h.w.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	out, err := api.CreateHostedZone(h.ctx(), &route53.CreateHostedZoneInput{Name: &name, CallerReference: &name})
	if err != nil {
		h.Fatal(err)
	}
	return strings.TrimPrefix(*out.HostedZone.Id, "/hostedzone/")
}

// livesOfBindings has every engine make each of its kinds, and remove it again.
func (h *home) livesOfBindings() {
	h.Helper()
	ns := h.namespace(map[string]string{"istio-injection": "enabled"})
	var all []*intentv1alpha1.SecurityIntent
	for _, of := range []intentv1alpha1.Intent{
		{ID: "denyExternalNetworkAccess"}, {ID: "escapeToHost"},
		{ID: "allowEgressToNames", Params: intentv1alpha1.Params{"names": {"api.example.com"}}},
		{ID: "ensureTLS"}, {ID: "apiSegmentation", Params: intentv1alpha1.Params{"denyPaths": {"/admin"}}},
		{ID: "assessTLS", Params: intentv1alpha1.Params{"external_addresses": {"example.com:443"}}},
	} {
		i := h.unmade(of.ID, intentv1alpha1.Block, of.Params)
		i.Name = strings.ToLower(of.ID) + "-" + ns
		all = append(all, i)
		h.make(i)
	}
	b := h.binds(ns, "web", app, all...)
	o := h.over("over-"+ns, intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(ns)}},
		all...)
	h.make(b, o)
	for _, made := range []client.Object{b, o} {
		h.shows(made, "Ready", "True", "Ready")
	}
	h.areThere(ns, true, networkPolicy, kubeArmorPolicy, kyvernoPolicy, kyvernoCluster, istioAuthz, istioPeer, cronJob, ciliumPolicy,
		applicationPolicy)
	// The objects of an intent that is no longer named are removed, and the policies stay.
	only := func(i *intentv1alpha1.SecurityIntent) {
		h.alter(b, func() { b.Spec.Intents = named([]*intentv1alpha1.SecurityIntent{i}) })
		h.alter(o, func() { o.Spec.Intents = named([]*intentv1alpha1.SecurityIntent{i}) })
	}
	only(all[0])
	h.areThere(ns, false, kubeArmorPolicy, kyvernoPolicy, kyvernoCluster, istioAuthz, istioPeer, cronJob, ciliumPolicy, applicationPolicy)
	h.areThere(ns, true, networkPolicy, nimbusPolicy, clusterNimbusPolicy)
	only(all[1])
	h.areThere(ns, false, networkPolicy)
	h.areThere(ns, true, kubeArmorPolicy, nimbusPolicy, clusterNimbusPolicy)
	// With the last intent the remaining objects go; the bindings stay.
	for _, i := range all {
		h.remove(i)
	}
	h.areThere(ns, false, nimbusPolicy, clusterNimbusPolicy)
	h.remove(b, o)
}

// livesInCEL lets Kyverno's policies in CEL take the place of those of kyverno.io, and go.
func (h *home) livesInCEL() {
	ns := h.namespace(nil)
	h.install(enginecrds.KyvernoCEL)
	var all []*intentv1alpha1.SecurityIntent
	for _, id := range []string{"escapeToHost", "cocoWorkload"} {
		i := h.unmade(id, intentv1alpha1.Block, nil)
		i.Name = strings.ToLower(id) + "-" + ns
		all = append(all, i)
		h.make(i)
	}
	b := h.binds(ns, "web", app, all...)
	o := h.over("over-"+ns, intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(ns)}},
		all...)
	h.make(b, o)
	var kinds []schema.GroupVersionKind
	for _, kind := range []string{"ValidatingPolicy", "NamespacedValidatingPolicy", "MutatingPolicy", "NamespacedMutatingPolicy"} {
		kinds = append(kinds, schema.GroupVersionKind{Group: "policies.kyverno.io", Version: "v1", Kind: kind})
	}
	h.areThere(ns, true, kinds...)
	for n, i := range all { // what an intent came to that is no longer named is removed
		h.alter(b, func() { b.Spec.Intents = named([]*intentv1alpha1.SecurityIntent{i}) })
		h.alter(o, func() { o.Spec.Intents = named([]*intentv1alpha1.SecurityIntent{i}) })
		h.areThere(ns, false, kinds[2-2*n:4-2*n]...)
		h.areThere(ns, true, kinds[2*n:2*n+2]...)
	}
	for _, i := range all {
		h.remove(i)
	}
	h.areThere(ns, false, kinds...)
	h.remove(b, o)
}

var (
	nimbusPolicy        = intentv1alpha1.GroupVersion.WithKind("NimbusPolicy")
	clusterNimbusPolicy = intentv1alpha1.GroupVersion.WithKind("ClusterNimbusPolicy")
)

// areThere waits until objects of every kind, or of none, exist in a namespace or of cluster scope.
func (h *home) areThere(ns string, want bool, gvks ...schema.GroupVersionKind) {
	h.Helper()
	for _, gvk := range gvks {
		in := ns
		if strings.HasPrefix(gvk.Kind, "Cluster") || gvk.Kind == "ValidatingPolicy" || gvk.Kind == "MutatingPolicy" {
			in = ""
		}
		h.eventually(fmt.Sprintf("%s being there to be %v", gvk.Kind, want), func() error {
			if found := h.derived(in, gvk); len(found) > 0 != want {
				return fmt.Errorf("%q in %q", found, in)
			}
			return nil
		})
	}
}

// cluster makes an EKS cluster.
func (h *home) cluster(name string) {
	h.Helper()
	makeEKSCluster(h.T, h.w, name, false)
}

// makeEKSCluster makes an EKS cluster, with or without EKS Auto Mode.
func makeEKSCluster(t *testing.T, w *world.World, name string, autoMode bool) {
	t.Helper()
	api := eks.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(w.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	in := &eks.CreateClusterInput{Name: &name, RoleArn: aws.String("arn:aws:iam::123456789012:role/cluster"),
		ResourcesVpcConfig: &ekstypes.VpcConfigRequest{}}
	if autoMode {
		in.ComputeConfig = &ekstypes.ComputeConfigRequest{Enabled: &autoMode}
	}
	if _, err := api.CreateCluster(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// agent installs the EKS Pod Identity Agent.
func (h *home) agent() {
	h.Helper()
	labels := map[string]string{"app": "agent"}
	h.make(&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "eks-pod-identity-agent"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "agent:1"}}}}}})
}

// livesOfCredentials reads keys from a Secret and holds it while it is needed: by the examples of all kinds.
func (h *home) livesOfCredentials() {
	h.Helper()
	p, s, b := keyed("right-keys")
	p.Spec.PermissionsBoundaryARN = "arn:aws:iam::123456789012:policy/nexus-boundary" // for roles with policies of users
	h.create(s, p)
	h.shows(p, "Ready", "True", "Authenticated")
	all := append(h.examples(p), b)
	h.create(all...)
	for _, o := range all {
		h.shows(o, "Ready", "True", "Ready")
	}
	h.remove(all...)
	h.remove(p, s)
}

// examples returns the examples of AWS kinds as objects of a provider, in its namespace.
func (h *home) examples(p *v1alpha1.AWSProvider) []client.Object {
	h.Helper()
	manifests, err := world.ReadManifests("../../examples/aws")
	if err != nil || len(manifests) == 0 {
		h.Fatalf("%d examples, %v", len(manifests), err)
	}
	var out []client.Object
	for _, u := range manifests {
		if u.GetKind() == "AWSProvider" {
			continue
		}
		typed, err := h.c.Scheme().New(u.GroupVersionKind())
		if err == nil {
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed)
		}
		if err != nil {
			h.Fatal(err)
		}
		o := typed.(v1alpha1.Resource)
		o.SetNamespace(p.Namespace)
		o.SetAnnotations(map[string]string{wellknown.AnnotationDeleteData: o.GetName()})
		o.CommonSpec().ProviderRef.Name = p.Name
		switch o := typed.(type) {
		case *v1alpha1.PodIdentityAssociation: // only for ServiceAccounts of the namespace
			o.Spec.Namespace = p.Namespace
		case *v1alpha1.IAMRole: // those of AWS, which the emulator loads only for the demo
			o.Spec.ManagedPolicyArns = nil
		}
		out = append(out, o)
	}
	return out
}

// keyed is a provider with credentials in a Secret, and a bucket by it.
func keyed(ns string) (*v1alpha1.AWSProvider, *corev1.Secret, *v1alpha1.S3Bucket) {
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "keys", Namespace: ns},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1",
			AccessKeyIDRef:     &v1alpha1.SecretKeyReference{Name: "keys", Key: "id"},
			SecretAccessKeyRef: &v1alpha1.SecretKeyReference{Name: "keys", Key: "secret"}}}
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys", Namespace: ns},
		StringData: map[string]string{"id": "AKIAFIRST", "secret": "one"}}
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "of-" + ns, Namespace: ns}, Spec: v1alpha1.S3BucketSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "keys"}}, BucketName: "of-" + ns}}
	return p, s, b
}

func TestSecretsAreReadOnlyWhereAnAdministratorBoundTheRight(t *testing.T) {
	h := start(t)
	clients, err := kubernetes.NewForConfig(h.w.Config())
	if err != nil {
		t.Fatal(err)
	}
	everywhere := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: operator.SecretsBinding}}
	if err := h.c.Delete(h.ctx(), everywhere); err != nil {
		t.Fatal(err)
	}
	secrets := right{"", "secrets", "get"}
	h.may(false, "unbound", secrets)
	t.Cleanup(func() {
		if err := operator.BindSecrets(h.ctx(), clients); err != nil {
			t.Error(err)
		}
		h.may(true, "unbound", secrets)
	})

	p, s, b := keyed("unbound")
	h.create(s, p)
	message := h.shows(p, "Stalled", "True", "CredentialsMissing")
	absent := p.DeepCopy()
	absent.Name, absent.ResourceVersion, absent.Spec.AccessKeyIDRef.Name = "absent", "", "nothing"
	h.create(absent)
	if other := h.shows(absent, "Stalled", "True", "CredentialsMissing"); strings.Replace(other, "nothing", "keys", 1) != message {
		t.Errorf("forbidden and absent can be told apart:\n%s\n%s", message, other)
	}
	h.remove(absent)

	// The remedy in the message helps, in that namespace and at once.
	command := "kubectl create rolebinding nexus-operator-secrets -n unbound --clusterrole=nexus-operator-secrets --serviceaccount=nexus-system:nexus-operator; this is noticed within a minute"
	if !strings.Contains(message, command) {
		t.Errorf("the message does not say how to help: %s", message)
	}
	h.make(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "unbound", Name: "nexus-operator-secrets"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-secrets"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: operator.Namespace, Name: "nexus-operator"}},
	})
	h.shows(p, "Ready", "True", "Authenticated")
	h.create(b)
	h.shows(b, "Ready", "True", "Ready")
	if err := h.c.Delete(h.ctx(), s); err != nil {
		t.Fatal(err)
	}
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(s), s); err != nil || s.DeletionTimestamp == nil {
		t.Errorf("the Secret is not held while the bucket needs it: %v", err)
	}
	h.remove(b, p, s)
}

// may waits until the operator has, or has not, a right in a namespace.
func (h *home) may(want bool, namespace string, r right) {
	h.Helper()
	c, err := kubernetes.NewForConfig(h.w.Config())
	if err != nil {
		h.Fatal(err)
	}
	resource, subresource, _ := strings.Cut(r.resource, "/")
	h.eventually(fmt.Sprintf("that it may %s to be %v", r, want), func() error {
		answer, err := c.AuthorizationV1().SubjectAccessReviews().Create(h.ctx(),
			&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: operator.User, ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: r.group, Resource: resource,
					Subresource: subresource, Verb: r.verb},
			}}, metav1.CreateOptions{})
		if err == nil && answer.Status.Allowed != want {
			err = fmt.Errorf("%+v", answer.Status)
		}
		return err
	})
}

// roleWith names the operator's ClusterRole that has a right.
func roleWith(t *testing.T, r right) string {
	t.Helper()
	for name, role := range roles(t) {
		if slices.Contains(operators, name) && rightsOf(role)[r] {
			return name
		}
	}
	t.Fatalf("the operator may not %s", r)
	return ""
}

// rob takes a right away until the returned function is called, or the test ends.
func (h *home) rob(r right) (restore func()) {
	h.Helper()
	h.robbed = true
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: roleWith(h.T, r)}}
	var whole []rbacv1.PolicyRule
	h.alter(role, func() {
		whole = role.DeepCopy().Rules
		var rest []rbacv1.PolicyRule
		for _, rule := range role.Rules {
			if slices.Contains(rule.APIGroups, r.group) && slices.Contains(rule.Resources, r.resource) && slices.Contains(rule.Verbs, r.verb) {
				other := rule.DeepCopy()
				other.Resources = slices.DeleteFunc(other.Resources, func(s string) bool { return s == r.resource })
				rest = append(rest, *other)
				rule.Resources = []string{r.resource}
				rule.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(s string) bool { return s == r.verb })
			}
			rest = append(rest, rule)
		}
		role.Rules = slices.DeleteFunc(rest, func(p rbacv1.PolicyRule) bool {
			return len(p.Verbs) == 0 || len(p.Resources)+len(p.NonResourceURLs) == 0
		})
	})
	restore = sync.OnceFunc(func() {
		h.alter(role, func() { role.Rules = whole })
		h.may(true, "default", r)
	})
	h.Cleanup(restore)
	h.may(false, "default", r)
	return restore
}

func TestAMissingRightIsReportedAndWorkContinuesOnceGranted(t *testing.T) {
	h := start(t)
	h.install(enginecrds.KubeArmor)
	ns := h.namespace(nil)
	dns, sw := h.declared("dnsManipulation", intentv1alpha1.Block, nil), h.declared("swDeploymentTools", intentv1alpha1.Block, nil)

	// The admission plugin asks for it, in no request of ours.
	restore := h.rob(right{"intent.security.nimbus.com", "securityintentbindings/finalizers", "update"})
	b := h.binds(ns, "web", app, dns, sw)
	h.make(b)
	if m := h.shows(b, "Stalled", "True", "AccessDenied"); !strings.Contains(m, "blockOwnerDeletion") {
		t.Errorf("the message does not name the right: %s", m)
	}
	restore()
	h.shows(b, "Ready", "True", "Ready")

	restore = h.rob(right{"security.kubearmor.com", "kubearmorpolicies", "delete"})
	h.alter(b, func() { b.Spec.Intents = named([]*intentv1alpha1.SecurityIntent{dns}) })
	if m := h.shows(b, "Stalled", "True", "AccessDenied"); !strings.Contains(m, "cannot delete resource \"kubearmorpolicies\"") {
		t.Errorf("the message does not name the right: %s", m)
	}
	h.there(kubeArmorPolicy, ns, "web-swdeploymenttools")
	restore()
	h.shows(b, "Ready", "True", "Ready")
	h.gone(kubeArmorPolicy, ns, "web-swdeploymenttools")

	// A role of an earlier version knows nothing of an engine that came later.
	restore = h.rob(right{"security.istio.io", "authorizationpolicies", "list"})
	h.install(enginecrds.Istio)
	if m := h.shows(b, "Stalled", "True", "AccessDenied"); !strings.Contains(m, "may not list AuthorizationPolicy") {
		t.Errorf("the message does not name the right: %s", m)
	}
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	h.covers(b, "dnsManipulation", "Istio", "None", "AccessDenied")
	restore()
	h.shows(b, "Ready", "True", "Ready")
	h.covers(b, "dnsManipulation", "Istio", "None", "NotCovered")
}

func TestAnEngineThatIsLeftOutNeedsNoRights(t *testing.T) {
	extent.Full(t)
	h := start(t, "--adapters=networkpolicy")
	h.robbed = true
	bound := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator-kubearmor"}}
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(bound), bound); err != nil {
		t.Fatal(err)
	}
	again := bound.DeepCopy()
	again.ResourceVersion = ""
	if err := h.c.Delete(h.ctx(), bound); err != nil {
		t.Fatal(err)
	}
	list := right{"security.kubearmor.com", "kubearmorpolicies", "list"}
	h.may(false, "default", list)
	t.Cleanup(func() {
		if err := h.c.Create(h.ctx(), again); err != nil {
			t.Error(err)
		}
		h.may(true, "default", list)
	})
	h.install(enginecrds.KubeArmor)
	b := h.binds(h.namespace(nil), "web", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	h.make(b)
	h.shows(b, "Ready", "True", "Ready")
	h.covers(b, "dnsManipulation", "KubeArmor", "None", "EngineDisabled")
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	h.remove(b)
}
