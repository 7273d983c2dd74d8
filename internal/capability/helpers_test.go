package capability_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

const uid = "0b9c6a5e-7b1c-4f0e-9d52-3f6f1b1a2c3d"

// fatal is testing.T and rapid.T alike.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// example reads a manifest of examples/, as strictly as kubectl does.
func example(t fatal, file string) *nexusv1.NexusAICapability {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", file))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for document := range strings.SplitSeq(string(b), "\n---\n") {
		if !strings.Contains(document, "kind: NexusAICapability") {
			continue // an example may bring what the capability names
		}
		c := &nexusv1.NexusAICapability{}
		if err := yaml.UnmarshalStrict([]byte(document), c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		c.UID = uid
		return c
	}
	t.Fatalf("%s holds no capability", file)
	return nil
}

// facts are those of a provider that is ready.
func facts() capability.Facts {
	return capability.Facts{
		Region: "eu-central-1", Account: "123456789012", Partition: "aws", OperatorNamespace: "nexus-system", ClusterID: "cluster-1",
	}
}

// minimal is the smallest legal capability, in the namespace of its workloads.
func minimal(edits ...func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
	c := &nexusv1.NexusAICapability{
		ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev", Namespace: "myapp-dev", UID: uid},
		Spec: nexusv1.NexusAICapabilitySpec{
			CapabilityName: "myapp", Environment: "dev", Version: "1.0.0",
			Frontend: nexusv1.FrontendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "frontend:1"}},
			Backend:  nexusv1.BackendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "backend:1"}},
		},
	}
	for _, e := range edits {
		e(c)
	}
	return c
}

// withData turns on every data service.
func withData(c *nexusv1.NexusAICapability) {
	c.Spec.DataServices = &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{}, S3: &nexusv1.S3Spec{}, Glue: &nexusv1.GlueSpec{}}
}

func compile(t fatal, c *nexusv1.NexusAICapability, f capability.Facts) *graph.Graph {
	t.Helper()
	g, err := capability.Compile(c, f)
	if err != nil {
		t.Fatalf("compiling %s/%s: %v", c.Spec.CapabilityName, c.Spec.Environment, err)
	}
	return g
}

func object(t fatal, g *graph.Graph, id string) *unstructured.Unstructured {
	t.Helper()
	n, ok := g.Node(id)
	if !ok {
		t.Fatalf("there is no %s in\n%s", id, g)
	}
	return n.Object
}

// at reads a field by its path.
func at(t fatal, o *unstructured.Unstructured, path ...string) any {
	t.Helper()
	v, found, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(path, "."), err)
	}
	if !found {
		return nil
	}
	return v
}

// policy is a policy document as IAM reads it.
type policy struct {
	Version   string
	Statement []struct {
		Sid, Effect      string
		Principal        map[string]string
		Action, Resource []string
		Condition        map[string]map[string][]string
	}
}

// policies are the inline policies of a compiled role.
func policies(t fatal, role *unstructured.Unstructured) []policy {
	t.Helper()
	var out []policy
	list, _, _ := unstructured.NestedSlice(role.Object, "spec", "inlinePolicies")
	for _, item := range list {
		var p policy
		text := item.(map[string]any)["policyDocument"].(string)
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, p)
	}
	return out
}

func kindOf(id string) string {
	kind, _, _ := strings.Cut(id, "/")
	return kind
}

func ofKind(g *graph.Graph, kind string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, n := range g.Nodes() {
		if n.Object.GetKind() == kind {
			out = append(out, n.Object)
		}
	}
	return out
}

func TestEveryExampleOfACapabilityCompiles(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, f := range files {
		c := example(t, filepath.Base(f))
		if g := compile(t, c, facts()); g.Len() < 10 {
			t.Errorf("%s compiles to %d objects", f, g.Len())
		}
	}
}
