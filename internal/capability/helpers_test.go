// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
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
			continue // an example may include the objects that the capability names
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

// facts returns the facts of a ready provider.
func facts() capability.Facts {
	f := capability.Facts{Region: "eu-central-1", OperatorNamespace: "nexus-system"}
	f.Provider.Account, f.Provider.Partition = "123456789012", "aws"
	f.Cluster.ID, f.Cluster.EKSName, f.Cluster.EKSRegion = "cluster-1", "production", "ap-southeast-1"
	return f
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

// bounded adds the boundary that a capability with Bedrock or AI parts needs, unless there is one.
func bounded(c *nexusv1.NexusAICapability, f capability.Facts) capability.Facts {
	if c.Spec.AI != nil || c.Spec.DataServices != nil && c.Spec.DataServices.Bedrock != nil {
		f.Provider.Boundary = cmp.Or(f.Provider.Boundary, boundary)
	}
	return f
}

// compile compiles a capability. Each child owns the AWS resource of its name, unless the facts have other proofs.
func compile(t fatal, c *nexusv1.NexusAICapability, f capability.Facts) *graph.Graph {
	t.Helper()
	f = bounded(c, f)
	if f.Owned == nil && f.Provider.Account != "" {
		g, err := capability.Compile(c, f)
		if err != nil {
			t.Fatalf("compiling %s/%s: %v", c.Spec.CapabilityName, c.Spec.Environment, err)
		}
		f.Owned = everything(t, g, c, f)
	}
	g, err := capability.Compile(c, f)
	if err != nil {
		t.Fatalf("compiling %s/%s: %v", c.Spec.CapabilityName, c.Spec.Environment, err)
	}
	return g
}

// assigned stands for every identifier that Cognito assigns.
const assigned = "assigned"

// keyOf is the prefix of the substitutes for identifiers that KMS assigns.
const keyOf = "of-"

// everything returns proofs that each child of the graph owns the AWS resource of its name.
func everything(t fatal, g *graph.Graph, c *nexusv1.NexusAICapability, f capability.Facts) map[string]capability.Proof {
	region := cmp.Or(f.Provider.Region, c.Spec.Region, f.Region, capability.DefaultRegion)
	arn := func(service, resource string) string {
		return "arn:" + f.Provider.Partition + ":" + service + ":" + region + ":" + f.Provider.Account + ":" + resource
	}
	database, out := "", map[string]capability.Proof{}
	for _, o := range ofKind(g, "GlueDatabase") {
		database = at(t, o, "spec", "databaseName").(string)
	}
	for _, n := range g.Nodes() {
		name := func(field string) string { return at(t, n.Object, "spec", field).(string) }
		p := capability.Proof{UID: "uid-of-" + n.ID}
		switch n.Object.GetKind() {
		case "DynamoDBTable":
			p.ARN = arn("dynamodb", "table/"+name("tableName"))
		case "S3Bucket":
			p.ARN = "arn:" + f.Provider.Partition + ":s3:::" + name("bucketName")
		case "GlueDatabase":
			p.ARN = arn("glue", "database/"+database)
		case "GlueTable":
			p.ARN = arn("glue", "table/"+database+"/"+name("tableName"))
		case "GlueCrawler":
			p.ARN = arn("glue", "crawler/"+name("crawlerName"))
		case "SSMParameterSet":
			p.ARN = arn("ssm", "parameter"+name("path"))
			p.Names = slices.Sorted(maps.Keys(at(t, n.Object, "spec", "parameters").(map[string]any)))
		case "SecretsManagerSecret":
			p.ARN = arn("secretsmanager", "secret:"+name("secretName")+"-AbCdEf")
		case "SQSQueue":
			p.ARN = arn("sqs", name("queueName"))
		case "SNSTopic":
			p.ARN = arn("sns", name("topicName"))
		case "KMSKey":
			p.ARN = arn("kms", "key/"+keyOf+n.Object.GetName())
		case "Certificate":
			p.ARN = arn("acm", "certificate/"+assigned)
		case "CognitoUserPool":
			p.ARN, p.Client = arn("cognito-idp", "userpool/"+assigned), assigned
		case "ECRRepository":
			p.ARN = arn("ecr", "repository/"+name("repositoryName"))
		case "AWSResource":
			service, form, _ := strings.Cut(cmp.Or(formsOfAI[name("typeName")], "s3vectors:bucket/"), ":")
			p.ARN = arn(service, form+n.Object.GetName())
			p.Values = valuesOfAI(c)
			p.Values["VECTOR_BUCKET_ARN"] = p.ARN
		default:
			continue
		}
		out[n.ID] = p
	}
	return out
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

// policies are the inline policies of a compiled role.
func policies(t fatal, role *unstructured.Unstructured) []iampolicy.Document {
	t.Helper()
	var out []iampolicy.Document
	list, _, _ := unstructured.NestedSlice(role.Object, "spec", "inlinePolicies")
	for _, item := range list {
		text := item.(map[string]any)["policyDocument"].(string)
		p, err := iampolicy.Parse(text)
		if err != nil {
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
