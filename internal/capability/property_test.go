// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

func TestCompile_IgnoresTheOrderOfLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		first := manifests(t, compile(t, c, facts()))
		if d := c.Spec.DataServices.DynamoDB; d != nil {
			d.Tables = rapid.Permutation(d.Tables).Draw(t, "tables")
		}
		if d := c.Spec.DataServices.S3; d != nil {
			d.Buckets = rapid.Permutation(d.Buckets).Draw(t, "buckets")
		}
		if d := c.Spec.DataServices.Bedrock; d != nil {
			d.Models = rapid.Permutation(d.Models).Draw(t, "models")
			d.KnowledgeBases = rapid.Permutation(d.KnowledgeBases).Draw(t, "knowledgeBases")
			d.Guardrails = rapid.Permutation(d.Guardrails).Draw(t, "guardrails")
		}
		c.Spec.DataServices.Queues = rapid.Permutation(c.Spec.DataServices.Queues).Draw(t, "queues")
		c.Spec.DataServices.Topics = rapid.Permutation(c.Spec.DataServices.Topics).Draw(t, "topics")
		for i := range c.Spec.DataServices.Topics {
			subscribed := &c.Spec.DataServices.Topics[i].SubscribeQueues
			*subscribed = rapid.Permutation(*subscribed).Draw(t, "subscribed")
		}
		if in := c.Spec.Cognito; in != nil {
			in.CallbackURLs = rapid.Permutation(in.CallbackURLs).Draw(t, "callbacks")
			in.LogoutURLs = rapid.Permutation(in.LogoutURLs).Draw(t, "logouts")
			in.Groups = rapid.Permutation(in.Groups).Draw(t, "groups")
		}
		c.Spec.Secrets = rapid.Permutation(c.Spec.Secrets).Draw(t, "secrets")
		before := c.DeepCopy()
		if again := manifests(t, compile(t, c, facts())); again != first {
			t.Fatalf("two compilations differ:\n%s\n%s", first, again)
		}
		if a, b := mustJSON(t, before), mustJSON(t, c); a != b {
			t.Fatalf("compiling changed the capability: %s became %s", a, b)
		}
	})
}

func manifests(t fatal, g *graph.Graph) string {
	var b strings.Builder
	b.WriteString(g.String())
	for _, n := range g.Nodes() {
		b.WriteString(mustJSON(t, n.Object.Object))
	}
	return b.String()
}

func mustJSON(t fatal, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(b)
}

func TestEveryObjectCarriesItsOwnerAndLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		for _, n := range compile(t, c, facts()).Nodes() {
			o := n.Object
			for key, want := range map[string]string{
				capability.LabelName: c.Spec.CapabilityName, capability.LabelInstance: c.Spec.CapabilityName + "-" + c.Spec.Environment,
				capability.LabelPartOf: c.Spec.CapabilityName, wellknown.LabelManagedBy: "nexus-operator",
				wellknown.LabelCapability:   c.Name,
				capability.LabelEnvironment: c.Spec.Environment, wellknown.LabelCapabilityUID: uid,
			} {
				if got := o.GetLabels()[key]; got != want {
					t.Fatalf("%s: label %s is %q, want %q", n.ID, key, got, want)
				}
			}
			if version, has := o.GetLabels()[capability.LabelVersion]; has != (o.GetKind() == "Deployment") || has && version != c.Spec.Version {
				t.Fatalf("%s: label %s is %q", n.ID, capability.LabelVersion, version)
			}
			for key, v := range o.GetLabels() {
				if p := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(v)...); len(p) > 0 {
					t.Fatalf("%s: label %s=%s: %v", n.ID, key, v, p)
				}
			}
			owner := metav1.GetControllerOf(o)
			own := o.GetNamespace() == c.Namespace
			if own != (owner != nil) || own && (owner.UID != uid || owner.Kind != "NexusAICapability" || !*owner.BlockOwnerDeletion) {
				t.Fatalf("%s in namespace %q has the owner %v", n.ID, o.GetNamespace(), owner)
			}
			if got := o.GetAnnotations()[wellknown.AnnotationCapability]; !own && got != c.Namespace+"/"+c.Name {
				t.Fatalf("%s in another namespace names the capability %q", n.ID, got)
			}
			if want := graph.ID(o.GetKind(), o.GetNamespace(), o.GetName(), c.Namespace); n.ID != want {
				t.Fatalf("%s should be called %s", n.ID, want)
			}
		}
	})
}

func scheme(t fatal) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		awsv1.AddToScheme, nexusv1.AddToScheme, intentv1alpha1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme, autoscalingv2.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return s
}

func TestEveryObjectIsOfItsTypeWithoutNullsAndStatus(t *testing.T) {
	s := scheme(t)
	rapid.Check(t, func(t *rapid.T) {
		for _, n := range compile(t, anyCapability().Draw(t, "capability"), facts()).Nodes() {
			typed, err := s.New(n.Object.GroupVersionKind())
			if err != nil {
				t.Fatalf("%s: %v", n.ID, err)
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(n.Object.Object, typed, true); err != nil {
				t.Fatalf("%s: %v", n.ID, err)
			}
			if text := mustJSON(t, n.Object.Object); strings.Contains(text, "null") || n.Object.Object["status"] != nil {
				t.Fatalf("%s holds null or a status: %s", n.ID, text)
			}
		}
	})
}

// The rules for names, each from the service's own documentation.
var awsNames = map[string]struct {
	field string
	rule  *regexp.Regexp
	most  int
}{
	"S3Bucket":             {"bucketName", regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`), 63},
	"DynamoDBTable":        {"tableName", regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,}$`), 255},
	"GlueDatabase":         {"databaseName", regexp.MustCompile(`^[a-z0-9_]+$`), 255},
	"GlueTable":            {"tableName", regexp.MustCompile(`^[a-z0-9_]+$`), 255},
	"GlueCrawler":          {"crawlerName", regexp.MustCompile(`^[A-Za-z0-9_.-]+$`), 255},
	"IAMRole":              {"roleName", regexp.MustCompile(`^[\w+=,.@-]+$`), 64},
	"SecretsManagerSecret": {"secretName", regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]+$`), 512},
	"SQSQueue":             {"queueName", regexp.MustCompile(`^[A-Za-z0-9_-]+([.]fifo)?$`), 80},
	"CognitoUserPool":      {"poolName", regexp.MustCompile(`^[\w\s+=,.@-]+$`), 128},
	"SNSTopic":             {"topicName", regexp.MustCompile(`^[A-Za-z0-9_-]+([.]fifo)?$`), 256},
	"SSMParameterSet":      {"path", regexp.MustCompile(`^(/[A-Za-z0-9_.-]+)+$`), 512},
}

func TestEveryNameIsLegalForEveryLegalCapability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		for _, n := range compile(t, c, facts()).Nodes() {
			kubernetesName(t, n.Object)
			rule, ok := awsNames[n.Object.GetKind()]
			if !ok {
				continue
			}
			name, _ := at(t, n.Object, "spec", rule.field).(string)
			if len(name) > rule.most || !rule.rule.MatchString(name) {
				t.Fatalf("%s: %s %q is not legal", n.ID, rule.field, name)
			}
		}
		for _, b := range ofKind(compile(t, c, facts()), "S3Bucket") {
			name := at(t, b, "spec", "bucketName").(string)
			for _, end := range []string{"-s3alias", "--ol-s3", "--x-s3", "--table-s3"} {
				if strings.HasSuffix(name, end) {
					t.Fatalf("S3 reserves %s", name)
				}
			}
		}
	})
}

func kubernetesName(t fatal, o *unstructured.Unstructured) {
	var problems []string
	switch o.GetKind() {
	case "Service":
		problems = validation.IsDNS1035Label(o.GetName())
	case "Namespace":
		problems = validation.IsDNS1123Label(o.GetName())
	default:
		problems = validation.IsDNS1123Subdomain(o.GetName())
	}
	if ns := o.GetNamespace(); ns != "" {
		problems = append(problems, validation.IsDNS1123Label(ns)...)
	}
	if o.GroupVersionKind().Group == awsv1.GroupName && len(o.GetName()) > 150 {
		problems = append(problems, "longer than 150")
	}
	if len(problems) > 0 {
		t.Fatalf("%s %s/%s: %v", o.GetKind(), o.GetNamespace(), o.GetName(), problems)
	}
}

func TestTheGraphIsShallowAndWorkloadsComeLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		g := compile(t, c, facts())
		most := 6
		if len(ofKind(g, "KMSKey")) > 0 {
			most++ // before the stores
		}
		if len(ofKind(g, "HorizontalPodAutoscaler")) > 0 {
			most++ // it follows its Deployment in the same pass
		}
		if c.Spec.AI != nil && len(c.Spec.AI.KnowledgeBases) > 0 {
			most++ // its role follows the index, and the index its vector bucket
		}
		if g.Depth() > most {
			t.Fatalf("%d waves:\n%s", g.Depth(), g)
		}
		ready := map[string]graph.Progress{}
		for _, n := range g.Nodes() {
			if n.Object.GroupVersionKind().Group != awsv1.GroupName {
				ready[n.ID] = graph.Ready
			}
		}
		for _, id := range g.Open(func(id string) graph.Progress { return ready[id] }) {
			if kindOf(id) == "Deployment" {
				t.Fatalf("%s starts before its data is there", id)
			}
		}
	})
}

func TestDeploymentsWaitForParametersToExistAndNotForValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, f := anyCapability().Draw(t, "capability"), facts()
		f.Provider.Region = cmp.Or(c.Spec.Region, "eu-west-1") // without it the settings are not known
		g := compile(t, c, f)
		of := map[string]graph.Progress{}
		for _, id := range g.IDs() {
			of[id] = graph.Ready
		}
		lacking := rapid.SampledFrom(g.IDs()).Draw(t, "lacking")
		n, _ := g.Node(lacking)
		if n.Object.GroupVersionKind().Group != awsv1.GroupName || n.Step == capability.StepIngress {
			return
		}
		of[lacking] = rapid.SampledFrom([]graph.Progress{graph.Pending, graph.Applied, graph.Present}).Draw(t, "progress")
		open := slices.ContainsFunc(g.Open(func(id string) graph.Progress { return of[id] }), func(id string) bool { return kindOf(id) == "Deployment" })
		values := kindOf(lacking) == "SSMParameterSet" && of[lacking] == graph.Present || kindOf(lacking) == "AWSProvider"
		isBudget := n.Object.GetLabels()[capability.LabelComponent] == "budget" // see TestBudget_ThatIsNotAllowedHoldsNoWorkloadBack
		if open != (values || isBudget) {
			t.Fatalf("with %s at %d a Deployment may start: %v", lacking, of[lacking], open)
		}
	})
}

func TestSelectorsNeverChangeWithTheVersion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		for _, n := range compile(t, c, facts()).Nodes() {
			for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "selector"}} {
				m, _, err := unstructured.NestedMap(n.Object.Object, path...)
				if _, has := m[capability.LabelVersion]; err == nil && has {
					t.Fatalf("%s selects by version", n.ID)
				}
			}
		}
	})
}

func TestWhatNeedsTheAccountIsUnresolvedUntilItIsKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		f := bounded(c, facts())
		f.Zone = "Z1D633PJN98FT9"
		known := compile(t, c, f)
		owned, err := capability.Compile(c, f)
		if err != nil {
			t.Fatal(err)
		}
		f.Owned = everything(t, owned, c, f)
		f.Provider.Account, f.Provider.Partition = "", ""
		unknown := compile(t, c, f)
		want := "AWSProvider/" + capability.ProviderName(c)
		for _, n := range unknown.Nodes() {
			k, _ := known.Node(n.ID)
			if strings.Contains(k.Unresolved, "Ingress/") {
				continue // the record of the host, which leads to a load balancer that is not there
			}
			if k.Unresolved != "" && c.Spec.ProviderRef == nil {
				t.Fatalf("%s is unresolved although all is known", n.ID)
			}
			same := mustJSON(t, k.Object.Object) == mustJSON(t, n.Object.Object)
			if strings.Contains(mustJSON(t, n.Object.Object), `.service"`) && n.Object.GetKind() == "AWSResource" {
				same = false // it waits for the rights of its role, which are in the account
			}
			if same == (n.Unresolved == want) && k.Unresolved == "" {
				t.Fatalf("%s: unresolved %q, the same with the account: %v", n.ID, n.Unresolved, same)
			}
		}
	})
}

// TestEveryAWSChildIsValid lets the operator take a child for valid because its capability compiles to it.
func TestEveryAWSChildIsValid(t *testing.T) {
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		for _, n := range compile(t, c, facts()).Nodes() {
			if n.Object.GroupVersionKind().Group != awsv1.GroupName || n.Unresolved != "" {
				continue
			}
			o := n.Object.DeepCopy()
			if err := schemas.Default(o); err != nil {
				t.Fatal(err)
			}
			if err := schemas.Validate(t.Context(), o.GetKind(), o); err != nil {
				t.Fatalf("%s: %v", n.ID, err)
			}
		}
	})
}

func TestEveryAWSChildGetsTheCapabilitysPolicies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		c.Spec.DriftPolicy = rapid.SampledFrom([]nexusv1.DriftPolicy{"", nexusv1.DriftCorrect, nexusv1.DriftReport}).Draw(t, "drift")
		drift := nexusv1.DriftCorrect
		if c.Spec.DriftPolicy != "" {
			drift = c.Spec.DriftPolicy
		}
		deletion := capability.EffectiveDeletionPolicy(c)
		for _, n := range compile(t, c, facts()).Nodes() {
			if n.Object.GroupVersionKind().Group != awsv1.GroupName || n.Object.GetKind() == "AWSProvider" {
				continue
			}
			if at(t, n.Object, "spec", "managementPolicy") == "Observe" && strings.HasSuffix(n.ID, ".existing") {
				if at(t, n.Object, "spec", "deletionPolicy") != "Retain" || at(t, n.Object, "spec", "providerRef", "name") != capability.ProviderName(c) {
					t.Fatalf("%s does not keep its store", n.ID)
				}
				continue
			}
			deletion := deletion
			typeName, _ := at(t, n.Object, "spec", "typeName").(string)
			// See TestKnowledge_TheDataSourceIsNotRetained and TestAI_FormerVersionsAreNotRetained.
			isUntagged := slices.Contains(typesBelow, typeName)
			isBudget := n.Object.GetLabels()[capability.LabelComponent] == "budget"
			if (n.Step == capability.StepIngress || isUntagged || isBudget) && deletion == nexusv1.DeletionRetain {
				deletion = nexusv1.DeletionDelete // see TestHTTPS_RecordsGoWithTheLoadBalancer and TestBudget_IsDeletedWhereDataIsRetained
			}
			if at(t, n.Object, "spec", "deletionPolicy") != string(deletion) || at(t, n.Object, "spec", "driftPolicy") != string(drift) ||
				at(t, n.Object, "spec", "providerRef", "name") != capability.ProviderName(c) {
				t.Fatalf("%s does not carry %s, %s and the provider", n.ID, deletion, drift)
			}
			if p := at(t, n.Object, "spec", "deletionProtection"); p != nil && p != (deletion != nexusv1.DeletionDelete) {
				t.Fatalf("%s: deletionProtection is %v with %s", n.ID, p, deletion)
			}
		}
	})
}
