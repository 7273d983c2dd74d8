package capability_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type edit = func(c *nexusv1.NexusAICapability)

// wrong is one capability for every rule, and the field that must be named.
var wrong = map[string]struct {
	edit
	field string
}{
	"a long name":          {func(c *nexusv1.NexusAICapability) { c.Name = strings.Repeat("a", 64) }, "metadata.name"},
	"no capabilityName":    {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "" }, "spec.capabilityName"},
	"upper case":           {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "MyApp" }, "spec.capabilityName"},
	"a last hyphen":        {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "a-" }, "spec.capabilityName"},
	"a digit first":        {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "1a" }, "spec.capabilityName"},
	"reserved by AWS":      {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "awsome" }, "spec.capabilityName"},
	"reserved by SSM":      {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "ssm" }, "spec.capabilityName"},
	"punycode":             {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "xn--a" }, "spec.capabilityName"},
	"reserved by S3":       {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "sthree-a" }, "spec.capabilityName"},
	"S3's demo":            {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "amzn-s3-demo-a" }, "spec.capabilityName"},
	"kube-system":          {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "kube" }, "spec.capabilityName"},
	"kube-anything":        {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "kube-a" }, "spec.capabilityName"},
	"both too long":        {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = strings.Repeat("a", 39) }, "spec.capabilityName"},
	"a hyphen in env":      {func(c *nexusv1.NexusAICapability) { c.Spec.Environment = "d-v" }, "spec.environment"},
	"a long env":           {func(c *nexusv1.NexusAICapability) { c.Spec.Environment = strings.Repeat("e", 17) }, "spec.environment"},
	"no version":           {func(c *nexusv1.NexusAICapability) { c.Spec.Version = "" }, "spec.version"},
	"no label value":       {func(c *nexusv1.NexusAICapability) { c.Spec.Version = "1.0+x" }, "spec.version"},
	"no region":            {func(c *nexusv1.NexusAICapability) { c.Spec.Region = "Frankfurt" }, "spec.region"},
	"no provider name":     {func(c *nexusv1.NexusAICapability) { c.Spec.ProviderRef = &nexusv1.ProviderReference{} }, "spec.providerRef.name"},
	"cognito":              {func(c *nexusv1.NexusAICapability) { c.Spec.EnableCognito = true }, "spec.enableCognito"},
	"no deletionPolicy":    {func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = "Keep" }, "spec.deletionPolicy"},
	"no driftPolicy":       {func(c *nexusv1.NexusAICapability) { c.Spec.DriftPolicy = "Ignore" }, "spec.driftPolicy"},
	"no image":             {func(c *nexusv1.NexusAICapability) { c.Spec.Frontend.Image = "" }, "spec.frontend.image"},
	"a space in the image": {func(c *nexusv1.NexusAICapability) { c.Spec.Backend.Image = "a b" }, "spec.backend.image"},
	"negative replicas":    {func(c *nexusv1.NexusAICapability) { c.Spec.Backend.Replicas = new(int32(-1)) }, "spec.backend.replicas"},
	"port 0":               {func(c *nexusv1.NexusAICapability) { c.Spec.Backend.Port = new(int32(0)) }, "spec.backend.port"},
	"no service type": {func(c *nexusv1.NexusAICapability) {
		c.Spec.Backend.Service = &nexusv1.ServiceSpec{Type: "ExternalName"}
	}, "spec.backend.service.type"},
	"request over limit": {requests("2", "1"), "spec.backend.resources.requests.cpu"},
	"negative request":   {requests("-1", "1"), "spec.backend.resources.requests.cpu"},
	"negative limit":     {requests("0", "-1"), "spec.backend.resources.limits.cpu"},
	"no scheme":          {ingress(func(i *nexusv1.IngressSpec) { i.Scheme = "public" }), "spec.ingress.scheme"},
	"a relative path":    {ingress(func(i *nexusv1.IngressSpec) { i.HealthCheckPath = "health" }), "spec.ingress.healthCheckPath"},
	"no host":            {ingress(func(i *nexusv1.IngressSpec) { i.Host = "a_b" }), "spec.ingress.host"},
	"no certificate":     {ingress(func(i *nexusv1.IngressSpec) { i.CertificateArn = "arn:aws:s3:::x" }), "spec.ingress.certificateArn"},
	"no annotation key": {ingress(func(i *nexusv1.IngressSpec) { i.Annotations = map[string]nexusv1.AnnotationValue{"a b": ""} }),
		"spec.ingress.annotations[a b]"},
	"a foreign group":        {ingress(func(i *nexusv1.IngressSpec) { i.GroupName = "team-b" }), "spec.ingress.groupName"},
	"glue without s3":        {data(func(d *nexusv1.DataServicesSpec) { d.S3 = nil }), "spec.dataServices.glue"},
	"glue with s3 off":       {data(func(d *nexusv1.DataServicesSpec) { d.S3.Enabled = new(false) }), "spec.dataServices.glue"},
	"glue without call-data": {data(func(d *nexusv1.DataServicesSpec) { d.S3.Buckets = []nexusv1.BucketSpec{{Name: "a"}} }), "spec.dataServices.glue"},
	"no schedule": {data(func(d *nexusv1.DataServicesSpec) { d.Glue.Crawler = &nexusv1.CrawlerSpec{Schedule: "daily"} }),
		"spec.dataServices.glue.crawler.schedule"},
	"a table twice": {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "a"}, {Name: "a"}} }),
		"spec.dataServices.dynamodb.tables[1].name"},
	"no table name": {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "A"}} }),
		"spec.dataServices.dynamodb.tables[0].name"},
	"17 tables": {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.Tables = make([]nexusv1.TableSpec, 17) }), "spec.dataServices.dynamodb.tables"},
	"a sort key alone": {table(nexusv1.TableSpec{RangeKey: &nexusv1.KeyAttribute{Name: "s", Type: "S"}}),
		"spec.dataServices.dynamodb.tables[0].rangeKey"},
	"no key type": {table(nexusv1.TableSpec{HashKey: &nexusv1.KeyAttribute{Name: "s", Type: "X"}}),
		"spec.dataServices.dynamodb.tables[0].hashKey.type"},
	"one key twice": {table(nexusv1.TableSpec{HashKey: &nexusv1.KeyAttribute{Name: "s", Type: "S"}, RangeKey: &nexusv1.KeyAttribute{Name: "s", Type: "S"}}),
		"spec.dataServices.dynamodb.tables[0].rangeKey.name"},
	"no table key":   {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.KMSKeyArn = "k" }), "spec.dataServices.dynamodb.kmsKeyArn"},
	"no bucket key":  {data(func(d *nexusv1.DataServicesSpec) { d.S3.KMSKeyArn = "k" }), "spec.dataServices.s3.kmsKeyArn"},
	"an alias":       {bucket(nexusv1.BucketSpec{Name: "s3alias"}), "spec.dataServices.s3.buckets[1].name"},
	"a long purpose": {bucket(nexusv1.BucketSpec{Name: strings.Repeat("a", 21)}), "spec.dataServices.s3.buckets[1].name"},
	"an idle rule": {bucket(nexusv1.BucketSpec{Name: "a", Lifecycle: []nexusv1.LifecycleRule{{ID: "r"}}}),
		"spec.dataServices.s3.buckets[1].lifecycle[0]"},
	"no storage class": {bucket(nexusv1.BucketSpec{Name: "a", Lifecycle: []nexusv1.LifecycleRule{
		{ID: "r", Transitions: []nexusv1.LifecycleTransition{{StorageClass: "TAPE"}}}}}), "spec.dataServices.s3.buckets[1].lifecycle[0].transitions"},
	"a secret from nowhere": {secret(nexusv1.SecretSpec{Name: "a"}), "spec.secrets[0]"},
	"two sources": {secret(nexusv1.SecretSpec{Name: "a", ValueFrom: &nexusv1.SecretKeySelector{Name: "s", Key: "k"}, Generate: &nexusv1.GenerateSpec{}}),
		"spec.secrets[0]"},
	"half a reference": {secret(nexusv1.SecretSpec{Name: "a", ValueFrom: &nexusv1.SecretKeySelector{Name: "s"}}), "spec.secrets[0].valueFrom"},
	"a short secret":   {secret(nexusv1.SecretSpec{Name: "a", Generate: &nexusv1.GenerateSpec{Length: new(int32(4))}}), "spec.secrets[0].generate.length"},
	"no keys": {secret(nexusv1.SecretSpec{Name: "a", Generate: &nexusv1.GenerateSpec{}, Placeholder: &nexusv1.PlaceholderSpec{Keys: []nexusv1.SecretKey{"k"}}}),
		"spec.secrets[0].generate.keys"},
	"a key twice": {secret(nexusv1.SecretSpec{Name: "a", Placeholder: &nexusv1.PlaceholderSpec{Keys: []nexusv1.SecretKey{"k", "k"}}}), "spec.secrets[0]"},
	"no key name": {secret(nexusv1.SecretSpec{Name: "a", Placeholder: &nexusv1.PlaceholderSpec{Keys: []nexusv1.SecretKey{"k k"}}}), "spec.secrets[0]"},
	"a bad boundary": {func(c *nexusv1.NexusAICapability) {
		c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: "b"}
	},
		"spec.identity.permissionsBoundaryARN"},
	"rights without a boundary": {rights("", "sqs:SendMessage"), "spec.identity.extraPolicyStatements"},
	"rights beyond the administrator's boundary": {rights(boundary, "sqs:SendMessage"),
		"spec.identity.extraPolicyStatements"},
	"the right to give rights":           {rights(boundary, "iam:PassRole"), "spec.identity.extraPolicyStatements[0].actions"},
	"every right":                        {rights(boundary, "*"), "spec.identity.extraPolicyStatements[0].actions"},
	"no intent name":                     {intents(nexusv1.IntentReference{Name: "No_DNS"}), "spec.security.intents[0].name"},
	"no component":                       {intents(nexusv1.IntentReference{Name: "a", Component: "database"}), "spec.security.intents[0].component"},
	"an intent twice":                    {intents(nexusv1.IntentReference{Name: "a"}, nexusv1.IntentReference{Name: "a"}), "spec.security.intents[1]"},
	"twice for one":                      {intents(forBackend("a"), forFrontend("a"), forBackend("a")), "spec.security.intents[2]"},
	"for both and for one":               {intents(nexusv1.IntentReference{Name: "a"}, forBackend("a")), "spec.security.intents[1]"},
	"for one and for both":               {intents(forBackend("a"), nexusv1.IntentReference{Name: "b"}, nexusv1.IntentReference{Name: "a"}), "spec.security.intents[2]"},
	"33 intents":                         {intents(make([]nexusv1.IntentReference, 33)...), "spec.security.intents"},
	"the operator's namespace":           {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName, c.Spec.Environment = "nexus", "system" }, "spec.capabilityName"},
	"another region than the provider's": {func(c *nexusv1.NexusAICapability) { c.Spec.Region = "us-west-2" }, "spec.region"},
}

const boundary = "arn:aws:iam::123456789012:policy/boundary"

func requests(request, limit string) edit {
	return func(c *nexusv1.NexusAICapability) {
		c.Spec.Backend.Resources = &nexusv1.ComponentResources{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(request)}, Limits: corev1.ResourceList{"cpu": resource.MustParse(limit)},
		}
	}
}

func ingress(e func(*nexusv1.IngressSpec)) edit {
	return func(c *nexusv1.NexusAICapability) {
		c.Spec.Ingress = &nexusv1.IngressSpec{}
		e(c.Spec.Ingress)
	}
}

func data(e func(*nexusv1.DataServicesSpec)) edit {
	return func(c *nexusv1.NexusAICapability) {
		withData(c)
		e(c.Spec.DataServices)
	}
}

func table(t nexusv1.TableSpec) edit {
	t.Name = "a"
	return data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.Tables = []nexusv1.TableSpec{t} })
}

func bucket(b nexusv1.BucketSpec) edit {
	return data(func(d *nexusv1.DataServicesSpec) { d.S3.Buckets = []nexusv1.BucketSpec{{Name: "call-data"}, b} })
}

func secret(s nexusv1.SecretSpec) edit {
	return func(c *nexusv1.NexusAICapability) { c.Spec.Secrets = []nexusv1.SecretSpec{s} }
}

func rights(boundary, action string) edit {
	return func(c *nexusv1.NexusAICapability) {
		c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: boundary, ExtraPolicyStatements: []nexusv1.PolicyStatement{
			{Actions: []nexusv1.PolicyAction{nexusv1.PolicyAction(action)}, Resources: []nexusv1.PolicyResource{"*"}},
		}}
	}
}

func intents(list ...nexusv1.IntentReference) edit {
	return func(c *nexusv1.NexusAICapability) { c.Spec.Security = &nexusv1.SecuritySpec{Intents: list} }
}

func forBackend(name string) nexusv1.IntentReference {
	return nexusv1.IntentReference{Name: name, Component: nexusv1.ComponentBackend}
}

func forFrontend(name string) nexusv1.IntentReference {
	return nexusv1.IntentReference{Name: name, Component: nexusv1.ComponentFrontend}
}

func TestWhatIsWrongIsRefusedWithItsField(t *testing.T) {
	f := facts()
	f.ProviderRegion = "eu-central-1"
	f.AllowedIngressGroups = []string{"team-a"}
	for name, tc := range wrong {
		t.Run(name, func(t *testing.T) {
			c := minimal(tc.edit)
			err := capability.Validate(c, f)
			stalled, ok := status.AsStalled(err)
			if !ok || stalled.Field != tc.field {
				t.Fatalf("got %v (field %q), want a refusal of %s", err, field(stalled), tc.field)
			}
			if stalled.Reason == "" || stalled.Message == "" {
				t.Errorf("the refusal says neither why nor what to do: %+v", stalled)
			}
			if _, err := capability.Compile(c, f); err == nil {
				t.Error("it compiles all the same")
			}
		})
	}
}

func field(s *status.Stalled) string {
	if s == nil {
		return ""
	}
	return s.Field
}

func TestEveryLegalCapabilityIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := capability.Validate(anyCapability().Draw(t, "capability"), facts()); err != nil {
			t.Fatalf("%v", err)
		}
	})
}

func TestRightsWithinTheAdministratorsBoundaryAreGiven(t *testing.T) {
	f := facts()
	f.Boundary = boundary
	c := minimal(rights(boundary, "sqs:SendMessage"))
	list := policies(t, object(t, compile(t, c, f), "IAMRole/myapp-dev-app-role"))
	if len(list) != 2 || list[1].Statement[0].Action[0] != "sqs:SendMessage" {
		t.Errorf("got %+v", list)
	}
}

func TestTheProvidersBoundaryCannotBeReplaced(t *testing.T) {
	f := facts()
	f.Boundary = boundary
	c := minimal(func(c *nexusv1.NexusAICapability) {
		c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: "arn:aws:iam::aws:policy/AdministratorAccess"}
	})
	if stalled, _ := status.AsStalled(capability.Validate(c, f)); field(stalled) != "spec.identity.permissionsBoundaryARN" {
		t.Errorf("got %+v", stalled)
	}
	c.Spec.Identity = nil
	for _, role := range ofKind(compile(t, c, f), "IAMRole") {
		if at(t, role, "spec", "permissionsBoundary") != boundary {
			t.Errorf("%s is bounded by %v", role.GetName(), at(t, role, "spec", "permissionsBoundary"))
		}
	}
}

func TestTooManyRightsAreRefusedBeforeAWSDoes(t *testing.T) {
	f := facts()
	f.Boundary = boundary
	c := minimal(rights(boundary, "sqs:SendMessage"))
	long := nexusv1.PolicyResource("arn:aws:sqs:eu-west-1:123456789012:" + strings.Repeat("q", 450))
	for i := range 30 {
		s := &c.Spec.Identity.ExtraPolicyStatements[0]
		s.Resources = append(s.Resources, long+nexusv1.PolicyResource(string(rune('a'+i))))
	}
	stalled, _ := status.AsStalled(capability.Validate(c, f))
	if field(stalled) != "spec.identity.extraPolicyStatements" || !strings.Contains(stalled.Message, "10240") {
		t.Errorf("got %+v", stalled)
	}
}

func TestACapabilityInDeletionCompilesHoweverWrongItIs(t *testing.T) {
	f := facts()
	f.ProviderRegion = "eu-central-1"
	for name, tc := range wrong {
		c := minimal(tc.edit)
		c.DeletionTimestamp = &metav1.Time{}
		if _, err := capability.Compile(c, f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzNeitherValidateNorCompilePanics throws text at every text field.
func FuzzNeitherValidateNorCompilePanics(f *testing.F) {
	f.Add("myapp", "dev", "1.0", "eu-west-1", "image", "purpose")
	f.Add("", "", "", "", "", "")
	f.Add("a\x00", "é", "\xff", "<known after AWSProvider/a>", " ", "--x-s3")
	f.Fuzz(func(t *testing.T, name, env, version, region, image, purpose string) {
		c := minimal(withData)
		c.Spec.CapabilityName, c.Spec.Environment, c.Spec.Version, c.Spec.Region = name, env, version, region
		c.Spec.Frontend.Image = image
		c.Spec.DataServices.S3.Buckets = []nexusv1.BucketSpec{{Name: "call-data"}, {Name: purpose}}
		c.Spec.Secrets = []nexusv1.SecretSpec{{Name: purpose, Generate: &nexusv1.GenerateSpec{}}}
		if capability.Validate(c, facts()) == nil {
			g := compile(t, c, facts())
			for _, n := range g.Nodes() {
				kubernetesName(t, n.Object)
			}
		}
	})
}
