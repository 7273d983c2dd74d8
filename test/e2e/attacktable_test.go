// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// leastAttacks sets how many rows the table has at least.
const leastAttacks = 60

// attack is one row: an object that a tenant creates, or edits after a harmless creation, and its refusal. The
// refusal is an error of the API server that holds all of refused, or else a condition.
type attack struct {
	wants string // what the attacker wants
	kind  string
	spec  string // YAML; where a kind needs more fields, those of harmless are added
	meta  string // YAML of the metadata; name and namespace are added
	edit  string // a merge patch in YAML, made after the creation
	sub   string // the subresource that is edited
	// refused are the words of the API server's error. Forbidden rows name the resource that the tenant may not write.
	refused []string
	// condition, Stalled unless given, has status True with this reason and a message that has all of says.
	condition, reason string
	says              []string
	// keeper rows are made by the keeper of the providers of another namespace, with every right.
	keeper bool
}

// harmless holds, by kind, the fields of a valid object, over which those of the tenant are written. NAME stands for a name that the test
// chooses. A kind that is not listed has the fields of its example.
var harmless = map[string]string{
	"S3Bucket":               `{providerRef: {name: aws}, bucketName: NAME}`,
	"DynamoDBTable":          `{providerRef: {name: aws}, tableName: NAME, hashKey: {name: pk, type: S}}`,
	"GlueDatabase":           `{providerRef: {name: aws}, databaseName: NAME}`,
	"GlueTable":              `{providerRef: {name: aws}, databaseName: lake, tableName: NAME}`,
	"GlueCrawler":            `{providerRef: {name: aws}, crawlerName: NAME, databaseName: lake, s3Targets: [{path: "s3://lake/"}]}`,
	"SSMParameterSet":        `{providerRef: {name: aws}, path: /team/NAME, parameters: {a: {value: b}}}`,
	"SecretsManagerSecret":   `{providerRef: {name: aws}, secretName: NAME}`,
	"IAMRole":                `{providerRef: {name: aws}, roleName: NAME}`,
	"VPC":                    `{providerRef: {name: aws}, cidrBlock: 10.0.0.0/16}`,
	"PodIdentityAssociation": `{providerRef: {name: aws}, clusterName: production, namespace: NAMESPACE, serviceAccount: app, roleRef: {name: app}}`,
	"SQSQueue":               `{providerRef: {name: aws}, queueName: NAME}`,
	"SNSTopic":               `{providerRef: {name: aws}, topicName: NAME}`,
	"KMSKey":                 `{providerRef: {name: aws}}`,
	"Route53HostedZone":      `{providerRef: {name: aws}, name: NAME.example.com}`,
	"Route53RecordSet":       `{providerRef: {name: aws}, hostedZoneID: Z1D633PJN98FT9, name: NAME.example.com, type: A, ttl: 60, resourceRecords: ["192.0.2.1"]}`,
	"Certificate":            `{providerRef: {name: aws}, domainName: x.example.com}`,
	"ElastiCacheCluster":     `{providerRef: {name: aws}, clusterID: NAME, engine: memcached, nodeType: cache.t4g.micro}`,
	"EKSCluster":             `{providerRef: {name: aws}, clusterName: NAME, roleRef: {name: absent}, vpcConfig: {subnetRefs: [{name: a}, {name: b}]}}`,
	"ECSCluster":             `{providerRef: {name: aws}, clusterName: NAME}`,
	"LambdaFunction":         `{providerRef: {name: aws}, functionName: NAME, roleRef: {name: absent}, code: {imageUri: "123456789012.dkr.ecr.ap-southeast-1.amazonaws.com/shop:v1"}}`,
	"ECRRepository":          `{providerRef: {name: aws}, repositoryName: NAME}`,
	"CognitoUserPool":        `{providerRef: {name: aws}, poolName: NAME}`,
	"Subnet":                 `{providerRef: {name: aws}, vpcRef: {name: net}, cidrBlock: 10.0.1.0/24}`,
	"SecurityGroup":          `{providerRef: {name: aws}, vpcRef: {name: net}, groupName: NAME, description: NAME}`,
	"InternetGateway":        `{providerRef: {name: aws}}`,
	"RouteTable":             `{providerRef: {name: aws}, vpcRef: {name: net}}`,
	"ElasticIP":              `{providerRef: {name: aws}}`,
	"AWSResource":            `{providerRef: {name: aws}, typeName: "AWS::Kinesis::Stream", properties: {Name: NAME}}`,
	"NATGateway":             `{providerRef: {name: aws}, subnetRef: {name: net}, connectivityType: private}`,
	"EC2Instance":            `{providerRef: {name: aws}, imageID: ami-0123456789abcdef0, instanceType: t3.micro}`,
	"EC2KeyPair":             `{providerRef: {name: aws}, publicKeyMaterial: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEUuCJpjUYhXhBWDpKuoN7hiULcVxxskUyKOkI//NLqP"}`,
	"AWSProvider":            `{region: ap-southeast-1}`,
	"DBSubnetGroup":          `{providerRef: {name: aws}, dbSubnetGroupName: NAME, subnetRefs: [{name: a}, {name: b}]}`,
	"RDSInstance": `{providerRef: {name: aws}, dbInstanceIdentifier: NAME, engine: postgres, dbInstanceClass: db.t4g.micro, allocatedStorage: 20, masterUsername: shop,
		manageMasterUserPassword: true}`,
	"NexusAICapability": `{capabilityName: NAME, environment: dev, version: "1", providerRef: {name: aws},
		backend: {image: "registry.example/b:1"}, frontend: {image: "registry.example/f:1"}}`,
	"PlanRequest":                  `{objects: [{kind: S3Bucket, name: NAME}]}`,
	"SecurityIntent":               `{intent: {id: dnsManipulation}}`,
	"SecurityIntentBinding":        `{intents: [{name: dns}], selector: {}}`,
	"ClusterSecurityIntentBinding": `{intents: [{name: dns}], selector: {nsSelector: {matchNames: ["*"]}}}`,
	"NimbusPolicy":                 `{selector: {}, rules: [{id: dnsManipulation, rule: {action: Audit}}]}`,
	"ClusterNimbusPolicy":          `{selector: {nsSelector: {matchNames: ["*"]}}, rules: [{id: dnsManipulation, rule: {action: Audit}}]}`,
}

// harmlessFor returns the harmless fields of a kind.
func harmlessFor(t testing.TB, kind string) string {
	t.Helper()
	if text := harmless[kind]; text != "" {
		return text
	}
	file := "../../examples/aws/" + strings.ToLower(kind) + ".yaml"
	examples, err := world.ReadManifests(file)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(examples, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
	if i < 0 {
		t.Fatalf("%s has no %s", file, kind)
	}
	spec := examples[i].Object["spec"].(map[string]any)
	spec["providerRef"] = map[string]any{"name": "aws"}
	text, err := yaml.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// attacksOnEveryKind are the rows that each kind of AWS resource has: the provider of another namespace, and its status.
func attacksOnEveryKind(scheme *runtime.Scheme) []attack {
	beside := map[string]string{"GlueCrawler": "\nrole: x", "IAMRole": "\n" + forApp} // without which admission refuses the object
	var out []attack
	for kind := range scheme.KnownTypes(v1alpha1.GroupVersion) {
		if o, err := scheme.New(v1alpha1.GroupVersion.WithKind(kind)); err != nil || !isResource(o) {
			continue
		}
		out = append(out,
			attack{wants: "another namespace's provider, for " + kind, kind: kind, spec: elsewhere + beside[kind], reason: "InvalidSpec",
				says: []string{"spec.providerRef.namespace"}},
			attack{wants: "the status of " + kind, kind: kind, spec: absent + beside[kind], sub: "status",
				edit: `{status: {ready: true, observedGeneration: 1}}`, refused: []string{"/status", "forbidden"}})
	}
	slices.SortFunc(out, func(a, b attack) int { return strings.Compare(a.wants, b.wants) })
	return out
}

func isResource(o runtime.Object) bool {
	_, is := o.(v1alpha1.Resource)
	return is
}

var ourGroups = []string{nexusv1.GroupVersion.Group, v1alpha1.GroupName, "intent.security.nimbus.com"}

// versionOf returns the API version of a kind.
func versionOf(kind string) string {
	switch {
	case kind == "NexusAICapability", kind == "PlanRequest":
		return "nexus.ai/v1"
	case strings.HasPrefix(kind, "SecurityIntent") || strings.HasPrefix(kind, "Cluster") || kind == "NimbusPolicy":
		return "intent.security.nimbus.com/v1alpha1"
	default:
		return "aws-infra-operator.runner.codes/v1alpha1"
	}
}

func parsed(t testing.TB, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// object returns the object of a row. Its name is unique in the table; NAME in the row's texts stands for it,
// OWNER and VICTIM for the UIDs of capabilities.
func (a attack) object(t testing.TB, i int, namespace string, uids map[string]string) *unstructured.Unstructured {
	t.Helper()
	name := fmt.Sprintf("attack%d", i)
	fill := func(text string) string {
		return strings.NewReplacer("\t", " ", "NAMESPACE", namespace, "NAME", name, "OWNER", uids["owner"], "VICTIM",
			uids["victim"]).Replace(text)
	}
	spec := parsed(t, fill(harmlessFor(t, a.kind)))
	for field, value := range parsed(t, fill(a.spec)) {
		spec[field] = value
		if value == nil {
			delete(spec, field)
		}
	}
	meta := map[string]any{"name": name, "namespace": namespace}
	for field, value := range parsed(t, fill(a.meta)) {
		meta[field] = value
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": versionOf(a.kind), "kind": a.kind, "metadata": meta, "spec": spec}}
}

// make creates the object, and edits it where the row says so. It returns the error of the last of these.
func (a attack) make(t testing.TB, c client.Client, o *unstructured.Unstructured) error {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := c.Create(ctx, o); err != nil {
		if a.edit != "" {
			t.Fatalf("the harmless creation is refused: %v", err)
		}
		return err
	}
	if a.edit == "" {
		return nil
	}
	patch, err := yaml.YAMLToJSON([]byte(a.edit))
	if err != nil {
		t.Fatal(err)
	}
	if a.sub != "" {
		return c.SubResource(a.sub).Patch(ctx, o, client.RawPatch(apitypes.MergePatchType, patch))
	}
	return c.Patch(ctx, o, client.RawPatch(apitypes.MergePatchType, patch))
}

// admission returns what is wrong with the API server's answer.
func (a attack) admission(err error) error {
	switch {
	case len(a.refused) == 0 && err != nil:
		return fmt.Errorf("refused by the API server, want the condition %s: %w", a.reason, err)
	case len(a.refused) == 0:
		return nil
	case err == nil:
		return errors.New("the API server accepts it")
	case !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err):
		return fmt.Errorf("neither Invalid nor Forbidden: %w", err)
	}
	return a.holds(err.Error(), a.refused)
}

func (a attack) holds(text string, words []string) error {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return fmt.Errorf("%q is not in: %s", w, text)
		}
	}
	return nil
}

// ended returns nil once the object shows the refusal and is not ready.
func (a attack) ended(o *unstructured.Unstructured) error {
	want := cmp.Or(a.condition, "Stalled")
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	var seen []string
	for _, item := range list {
		c := item.(map[string]any)
		seen = append(seen, fmt.Sprintf("%s=%s/%s: %s", c["type"], c["status"], c["reason"], c["message"]))
		if c["type"] == want && c["status"] == "True" && c["reason"] == a.reason {
			return a.holds(fmt.Sprint(c["message"]),
				strings.Split(strings.ReplaceAll(strings.Join(a.says, "\n"), "NAMESPACE", o.GetNamespace()), "\n"))
		}
	}
	return fmt.Errorf("want %s=True/%s, have %s", want, a.reason, strings.Join(seen, "; "))
}

// victims puts into AWS what the attacks are after: resources without an owner, and the capability and the bucket of another
// namespace. It returns the UID of that capability.
func (b *bed) victims() string {
	b.Helper()
	config := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	_, bucketErr := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true }).CreateBucket(b.Ctx(),
		&s3.CreateBucketInput{Bucket: aws.String("finance-reports"),
			CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}})
	_, roleErr := iam.NewFromConfig(config).CreateRole(b.Ctx(),
		&iam.CreateRoleInput{RoleName: aws.String("finance-admin"), AssumeRolePolicyDocument: &trust})
	_, secretErr := secretsmanager.NewFromConfig(config).CreateSecret(b.Ctx(),
		&secretsmanager.CreateSecretInput{Name: aws.String("finance/db"), SecretString: aws.String("not yours")})
	_, tableErr := dynamodb.NewFromConfig(config).CreateTable(b.Ctx(),
		&dynamodb.CreateTableInput{TableName: aws.String("finance-ledger"), BillingMode: ddbtypes.BillingModePayPerRequest,
			KeySchema:            []ddbtypes.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: ddbtypes.KeyTypeHash}},
			AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: ddbtypes.ScalarAttributeTypeS}}})
	if err := errors.Join(bucketErr, roleErr, secretErr, tableErr); err != nil {
		b.Fatal(err)
	}
	c := b.small("victim")
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "aws"}
	p, o := provider("aws"), bucket("victims-bucket")
	p.Namespace, o.Namespace = c.Namespace, c.Namespace
	b.Create(p, o, c)
	b.Ready(p, o)
	b.Running(c)
	return string(c.UID)
}

// owner creates a capability that is refused, for forged owner references: the garbage collector deletes what names an
// owner that does not exist in its namespace, and the objects of a suspended capability are left as they are.
func (b *bed) owner(namespace string) string {
	b.Helper()
	c := b.small("owner")
	c.Namespace, c.Name, c.Spec.Ingress = namespace, "owner", &nexusv1.IngressSpec{GroupName: "finance"}
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "aws"}
	c.Spec.Environment = strings.ReplaceAll(namespace, "-", "")
	b.Create(c)
	return string(c.UID)
}

// guards creates the providers of the tenant's namespace and the Secret that the keeper's namespace holds.
func (b *bed) guards(keeper string) {
	b.Helper()
	b.provider()
	bounded := provider("bounded")
	bounded.Spec.PermissionsBoundaryARN, bounded.Spec.RolePathPrefix = "arn:aws:iam::123456789012:policy/team", "/team/"
	pathed := provider("pathed")
	pathed.Spec.RolePathPrefix = "/team/"
	b.Create(bounded, pathed)
	b.Ready(bounded, pathed)
	k := keys("keys", "AKIATABLE")
	k.Namespace = keeper
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "victim-dev", Name: "token"},
		StringData: map[string]string{"value": "canary-of-the-victim"}}
	b.Create(k, foreign)
	b.Cleanup(func() { // these namespaces outlive the test
		if err := errors.Join(b.Client.Delete(b.Ctx(), k), b.Client.Delete(b.Ctx(), foreign)); err != nil {
			b.Error(err)
		}
	})
	observed := role("finance-admin")
	observed.Spec.ManagementPolicy = v1alpha1.ManageObserve
	observed.Name = "observed"
	b.Create(observed)
	b.Ready(observed)
}

func awsWrites(calls emulator.Calls) emulator.Calls {
	return calls.Writes().Filter(func(c emulator.Call) bool { return c.Service != "sts" && !refusedCreate(c) })
}

// refusedCreate says that AWS refused to create what exists: the first create of an object comes before any look.
func refusedCreate(c emulator.Call) bool {
	return strings.HasPrefix(c.Op, "Create") && c.Status >= 400
}

// Every reference and every name of every kind, tried as a tenant with Kubernetes' role edit in one namespace. The
// objects of all rows exist at once: none of them may write to AWS.
func TestAttack_EveryRowOfTheTableIsRefused(t *testing.T) {
	b := newBed(t, "--ambient-namespaces=team-*,victim-dev", "--allowed-endpoints=http://127.*,https://*.example.com")
	keeper := b.MakeNamespace("keeper")
	victim := b.victims()
	b.guards(keeper)
	tenant := b.Tenant(b.Namespace)
	rows := slices.Concat(attacksOnEveryKind(b.Client.Scheme()),
		attacksOnNames, attacksOnRights, attacksOnReferences, attacksOnRoles, attacksOnOwnership, attacksOnCapabilities,
		attacksByPlans, attacksOnIntents, attacksOfKeepers,
		attacksOfSpelling, attacksByPassing, attacksByRecords, attacksOnPods, attacksByLoad)
	if len(rows) < leastAttacks {
		t.Fatalf("%d rows, want at least %d", len(rows), leastAttacks)
	}
	uids := map[string]map[string]string{b.Namespace: {"owner": b.owner(b.Namespace), "victim": victim}, keeper: {"owner": b.owner(keeper)}}
	everyKindIsAttacked(t, b.Client, rows)
	rows = extent.Sample(t, rows, leastAttacks/2)
	mark := b.World.AWS().Mark()
	made := map[int]*unstructured.Unstructured{}
	for i, a := range rows {
		c, namespace := tenant, b.Namespace
		if a.keeper {
			c, namespace = b.Client, keeper
		}
		o := a.object(t, i, namespace, uids[namespace])
		if err := a.admission(a.make(t, c, o)); err != nil {
			t.Errorf("%s: %v", a.wants, err)
		} else if len(a.refused) == 0 {
			made[i] = o
		}
	}
	b.refuses(rows, made)
	b.plansOfOthers(tenant)
	eventsTellNothing := b.tellsNothing(b.Namespace, "victim-dev", extent.Size(t, 8, 20))
	if w := awsWrites(b.World.AWS().Since(mark)); len(w) > 0 {
		t.Errorf("AWS was written to:\n%s", w)
	}
	b.nothingIsLost(made)
	eventsTellNothing()
}

// everyKindIsAttacked fails when a kind of ours has no row.
func everyKindIsAttacked(t *testing.T, c client.Client, rows []attack) {
	t.Helper()
	for gvk := range c.Scheme().AllKnownTypes() {
		kind, isList := strings.CutSuffix(gvk.Kind, "List")
		if isList && slices.Contains(ourGroups, gvk.Group) && !slices.ContainsFunc(rows, func(a attack) bool { return a.kind == kind }) {
			t.Errorf("no row attacks %s", kind)
		}
	}
}

// refuses waits until every object shows its refusal.
func (b *bed) refuses(rows []attack, made map[int]*unstructured.Unstructured) {
	b.Helper()
	deadline := time.Now().Add(40 * time.Second)
	for i, o := range made {
		for {
			err := b.Get(o)
			if err == nil {
				err = rows[i].ended(o)
			}
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				b.Errorf("%s: %v", rows[i].wants, err)
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// nothingIsLost deletes the objects of the table and asks AWS for what they were after.
func (b *bed) nothingIsLost(made map[int]*unstructured.Unstructured) {
	b.Helper()
	mark := b.World.AWS().Mark()
	for _, o := range made {
		if err := b.Client.Delete(b.Ctx(), o); client.IgnoreNotFound(err) != nil {
			b.Error(err)
		}
	}
	b.Quiet()
	if w := awsWrites(b.World.AWS().Since(mark)); len(w) > 0 {
		b.Errorf("AWS was written to when the objects were deleted:\n%s", w)
	}
	inv := fmt.Sprint(b.Inventory())
	for _, name := range []string{"finance-reports", "finance-admin", "finance/db", "finance-ledger", "victims-bucket"} {
		if !strings.Contains(inv, name) {
			b.Errorf("%s is gone: %s", name, inv)
		}
	}
}
