// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type edit = func(c *nexusv1.NexusAICapability)

// signIn returns an edit that enables the sign-in of users before the edit e.
func signIn(e edit) edit {
	return func(c *nexusv1.NexusAICapability) {
		c.Spec.EnableCognito, c.Spec.Cognito = true, &nexusv1.CognitoSpec{CallbackURLs: []nexusv1.SignInURL{"https://example.com/callback"}}
		e(c)
	}
}

func callbacks(urls ...nexusv1.SignInURL) edit {
	return func(c *nexusv1.NexusAICapability) { c.Spec.Cognito.CallbackURLs = urls }
}

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
	"sign-in switched off": {func(c *nexusv1.NexusAICapability) { c.Spec.Cognito = &nexusv1.CognitoSpec{} }, "spec.cognito"},
	"sign-in, no host":     {func(c *nexusv1.NexusAICapability) { c.Spec.EnableCognito = true }, "spec.cognito.callbackURLs"},
	"sign-in, any host": {signIn(func(c *nexusv1.NexusAICapability) {
		c.Spec.Ingress, c.Spec.Cognito.CallbackURLs = &nexusv1.IngressSpec{Host: "*.example.com"}, nil
	}), "spec.cognito.callbackURLs"},
	"a callback in clear":     {signIn(callbacks("http://example.com/callback")), "spec.cognito.callbackURLs[0]"},
	"a callback to nowhere":   {signIn(callbacks("http://localhost.example.com/")), "spec.cognito.callbackURLs[0]"},
	"a callback to a script":  {signIn(callbacks("javascript:alert(1)")), "spec.cognito.callbackURLs[0]"},
	"a callback twice":        {signIn(callbacks("https://example.com/", "https://example.com/")), "spec.cognito.callbackURLs[1]"},
	"a callback without host": {signIn(callbacks("https://example.com/", "/callback")), "spec.cognito.callbackURLs[1]"},
	"a logout in clear": {signIn(func(c *nexusv1.NexusAICapability) {
		c.Spec.Cognito.LogoutURLs = []nexusv1.SignInURL{"http://example.com/"}
	}), "spec.cognito.logoutURLs[0]"},
	"a group twice":        {signIn(func(c *nexusv1.NexusAICapability) { c.Spec.Cognito.Groups = []nexusv1.UserGroup{"a", "a"} }), "spec.cognito.groups[1]"},
	"no group name":        {signIn(func(c *nexusv1.NexusAICapability) { c.Spec.Cognito.Groups = []nexusv1.UserGroup{"a b"} }), "spec.cognito.groups[0]"},
	"no domain prefix":     {signIn(func(c *nexusv1.NexusAICapability) { c.Spec.Cognito.DomainPrefix = "a_b" }), "spec.cognito.domainPrefix"},
	"a reserved prefix":    {signIn(func(c *nexusv1.NexusAICapability) { c.Spec.Cognito.DomainPrefix = "my-cognito" }), "spec.cognito.domainPrefix"},
	"a reserved name":      {signIn(func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "laws" }), "spec.cognito.domainPrefix"},
	"no deletionPolicy":    {func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = "Keep" }, "spec.deletionPolicy"},
	"no driftPolicy":       {func(c *nexusv1.NexusAICapability) { c.Spec.DriftPolicy = "Ignore" }, "spec.driftPolicy"},
	"no image":             {func(c *nexusv1.NexusAICapability) { c.Spec.Frontend.Image, c.Spec.Frontend.Port = "", new(int32(80)) }, "spec.frontend.image"},
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
	"no Gateway": {ingress(func(i *nexusv1.IngressSpec) { i.Gateway = &nexusv1.GatewaySpec{Name: "a..b"} }), "spec.ingress.gateway.name"},
	"no class":   {ingress(func(i *nexusv1.IngressSpec) { i.Gateway = &nexusv1.GatewaySpec{Class: "a.-b"} }), "spec.ingress.gateway.class"},
	"no zone's object": {ingress(func(i *nexusv1.IngressSpec) {
		i.Host, i.HostedZoneRef = "a.example", &nexusv1.HostedZoneReference{Name: "a..b"}
	}), "spec.ingress.hostedZoneRef.name"},
	"a foreign group":        {ingress(func(i *nexusv1.IngressSpec) { i.GroupName = "team-b" }), "spec.ingress.groupName"},
	"glue without s3":        {data(func(d *nexusv1.DataServicesSpec) { d.S3 = nil }), "spec.dataServices.glue"},
	"glue with s3 off":       {data(func(d *nexusv1.DataServicesSpec) { d.S3.Enabled = new(false) }), "spec.dataServices.glue"},
	"glue without call-data": {data(func(d *nexusv1.DataServicesSpec) { d.S3.Buckets = []nexusv1.BucketSpec{{Name: "a"}} }), "spec.dataServices.glue"},
	"no schedule": {data(func(d *nexusv1.DataServicesSpec) { d.Glue.Crawler = &nexusv1.CrawlerSpec{Schedule: "daily"} }),
		"spec.dataServices.glue.crawler.schedule"},
	"a table twice": {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "a"}, {Name: "a"}} }),
		"spec.dataServices.dynamodb.tables[1]"},
	"no table name": {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "A"}} }),
		"spec.dataServices.dynamodb.tables[0].name"},
	"17 tables": {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.Tables = make([]nexusv1.TableSpec, 17) }), "spec.dataServices.dynamodb.tables"},
	"a sort key alone": {table(nexusv1.TableSpec{RangeKey: &nexusv1.KeyAttribute{Name: "s", Type: "S"}}),
		"spec.dataServices.dynamodb.tables[0].rangeKey"},
	"no key type": {table(nexusv1.TableSpec{HashKey: &nexusv1.KeyAttribute{Name: "s", Type: "X"}}),
		"spec.dataServices.dynamodb.tables[0].hashKey.type"},
	"one key twice": {table(nexusv1.TableSpec{HashKey: &nexusv1.KeyAttribute{Name: "s", Type: "S"}, RangeKey: &nexusv1.KeyAttribute{Name: "s", Type: "S"}}),
		"spec.dataServices.dynamodb.tables[0].rangeKey.name"},
	"a key of many bytes": {table(nexusv1.TableSpec{HashKey: &nexusv1.KeyAttribute{Name: strings.Repeat("é", 128), Type: "S"}}),
		"spec.dataServices.dynamodb.tables[0].hashKey.name"},
	"a sort key of many bytes": {table(nexusv1.TableSpec{HashKey: &nexusv1.KeyAttribute{Name: "s", Type: "S"},
		RangeKey: &nexusv1.KeyAttribute{Name: strings.Repeat("é", 128), Type: "S"}}), "spec.dataServices.dynamodb.tables[0].rangeKey.name"},
	"a time to live of many bytes": {table(nexusv1.TableSpec{TTL: &nexusv1.TableTTL{Enabled: true, AttributeName: strings.Repeat("é", 128)}}),
		"spec.dataServices.dynamodb.tables[0].ttl.attributeName"},
	"no table key":      {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.KMSKeyArn = "k" }), "spec.dataServices.dynamodb.kmsKeyArn"},
	"no bucket key":     {data(func(d *nexusv1.DataServicesSpec) { d.S3.KMSKeyArn = "k" }), "spec.dataServices.s3.kmsKeyArn"},
	"an unknown naming": {data(func(d *nexusv1.DataServicesSpec) { d.S3.Naming = "Regional" }), "spec.dataServices.s3.naming"},
	"a bucket that is marked twice": {data(func(d *nexusv1.DataServicesSpec) {
		d.S3.Naming, d.S3.Buckets = nexusv1.BucketsAccountRegional, []nexusv1.BucketSpec{{Name: "call-data"}, {Name: "x-an"}}
	}), "spec.dataServices.s3.buckets[1].name"},
	"an alias":       {bucket(nexusv1.BucketSpec{Name: "s3alias"}), "spec.dataServices.s3.buckets[1].name"},
	"a long purpose": {bucket(nexusv1.BucketSpec{Name: strings.Repeat("a", 21)}), "spec.dataServices.s3.buckets[1].name"},
	"an idle rule": {bucket(nexusv1.BucketSpec{Name: "a", Lifecycle: []nexusv1.LifecycleRule{{ID: "r"}}}),
		"spec.dataServices.s3.buckets[1].lifecycle[0]"},
	"no storage class": {bucket(nexusv1.BucketSpec{Name: "a", Lifecycle: []nexusv1.LifecycleRule{
		{ID: "r", Transitions: []nexusv1.LifecycleTransition{{StorageClass: "TAPE"}}}}}), "spec.dataServices.s3.buckets[1].lifecycle[0].transitions[0].storageClass"},
	"default secrets of a word": {func(c *nexusv1.NexusAICapability) { c.Spec.DefaultSecrets = "Some" }, "spec.defaultSecrets"},
	"a secret from nowhere":     {secret(nexusv1.SecretSpec{Name: "a"}), "spec.secrets[0]"},
	"two sources": {secret(nexusv1.SecretSpec{Name: "a", ValueFrom: &nexusv1.SecretKeySelector{Name: "s", Key: "k"}, Generate: &nexusv1.GenerateSpec{}}),
		"spec.secrets[0]"},
	"half a reference":   {secret(nexusv1.SecretSpec{Name: "a", ValueFrom: &nexusv1.SecretKeySelector{Name: "s"}}), "spec.secrets[0].valueFrom.key"},
	"a Secret by a path": {secret(nexusv1.SecretSpec{Name: "a", ValueFrom: &nexusv1.SecretKeySelector{Name: "../b", Key: "k"}}), "spec.secrets[0].valueFrom.name"},
	"a short secret":     {secret(nexusv1.SecretSpec{Name: "a", Generate: &nexusv1.GenerateSpec{Length: new(int32(4))}}), "spec.secrets[0].generate.length"},
	"no keys": {secret(nexusv1.SecretSpec{Name: "a", Generate: &nexusv1.GenerateSpec{}, Placeholder: &nexusv1.PlaceholderSpec{Keys: []nexusv1.SecretKey{"k"}}}),
		"spec.secrets[0].generate.keys"},
	"a key twice": {secret(nexusv1.SecretSpec{Name: "a", Placeholder: &nexusv1.PlaceholderSpec{Keys: []nexusv1.SecretKey{"k", "k"}}}), "spec.secrets[0].placeholder.keys[1]"},
	"no key name": {secret(nexusv1.SecretSpec{Name: "a", Placeholder: &nexusv1.PlaceholderSpec{Keys: []nexusv1.SecretKey{"k k"}}}), "spec.secrets[0].placeholder.keys[0]"},
	"a bad boundary": {func(c *nexusv1.NexusAICapability) {
		c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: "b"}
	},
		"spec.identity.permissionsBoundaryARN"},
	"rights without a boundary": {rights("", "sqs:SendMessage"), "spec.identity.extraPolicyStatements"},
	"rights beyond the administrator's boundary": {rights(boundary, "sqs:SendMessage"),
		"spec.identity.extraPolicyStatements"},
	"the right to give rights":    {rights(boundary, "iam:PassRole"), "spec.identity.extraPolicyStatements[0].actions"},
	"every right":                 {rights(boundary, "*"), "spec.identity.extraPolicyStatements[0].actions[0]"},
	"a model without a boundary":  {bedrock(func(*nexusv1.BedrockSpec) {}), "spec.dataServices.bedrock"},
	"a wildcard for a model":      {bedrock(func(b *nexusv1.BedrockSpec) { b.Models[0].ModelID = "amazon.*" }), "spec.dataServices.bedrock.models[0].modelID"},
	"a profile of another model":  {bedrock(func(b *nexusv1.BedrockSpec) { b.Models[0].InferenceProfile = "us.amazon.nova" }), "spec.dataServices.bedrock.models[0].inferenceProfile"},
	"no profile":                  {bedrock(func(b *nexusv1.BedrockSpec) { b.Models[0].InferenceProfile = "arn:a" }), "spec.dataServices.bedrock.models[0].inferenceProfile"},
	"a profile of another region": {bedrock(func(b *nexusv1.BedrockSpec) { b.Models[0].InferenceProfile = profileARN("us-east-1", "123456789012") }), "spec.dataServices.bedrock.models[0].inferenceProfile"},
	"a profile of another account": {bedrock(func(b *nexusv1.BedrockSpec) {
		b.Models[0].InferenceProfile = profileARN("eu-central-1", "999999999999")
	}), "spec.dataServices.bedrock.models[0].inferenceProfile"},
	"a model twice": {bedrock(func(b *nexusv1.BedrockSpec) { b.Models = append(b.Models, b.Models[0]) }), "spec.dataServices.bedrock.models[1]"},
	"a wildcard for a guardrail": {bedrock(func(b *nexusv1.BedrockSpec) { b.Guardrails = []nexusv1.BedrockGuardrail{{Name: "a", ID: "*"}} }),
		"spec.dataServices.bedrock.guardrails[0].id"},
	"a version that is none": {bedrock(func(b *nexusv1.BedrockSpec) {
		b.Guardrails = []nexusv1.BedrockGuardrail{{Name: "a", ID: "a", Version: "*"}}
	}),
		"spec.dataServices.bedrock.guardrails[0].version"},
	"a wildcard for a knowledge base": {bedrock(func(b *nexusv1.BedrockSpec) { b.KnowledgeBases = []nexusv1.BedrockKnowledgeBase{{Name: "a", ID: "*"}} }),
		"spec.dataServices.bedrock.knowledgeBases[0].id"},
	"a queue's name":                   {queue(nexusv1.QueueSpec{Name: "A"}), "spec.dataServices.queues[0].name"},
	"a queue's long name":              {queue(nexusv1.QueueSpec{Name: strings.Repeat("a", 29)}), "spec.dataServices.queues[0].name"},
	"a dead-letter queue":              {queue(nexusv1.QueueSpec{Name: "jobs-dlq"}), "spec.dataServices.queues[0].name"},
	"a queue twice":                    {queue(nexusv1.QueueSpec{Name: "a"}, nexusv1.QueueSpec{Name: "a"}), "spec.dataServices.queues[1]"},
	"a timeout of a day":               {queue(nexusv1.QueueSpec{Name: "a", VisibilityTimeoutSeconds: new(int32(86400))}), "spec.dataServices.queues[0].visibilityTimeoutSeconds"},
	"a retention of a second":          {queue(nexusv1.QueueSpec{Name: "a", MessageRetentionSeconds: new(int32(1))}), "spec.dataServices.queues[0].messageRetentionSeconds"},
	"a message never received":         {queue(nexusv1.QueueSpec{Name: "a", DeadLetter: &nexusv1.DeadLetterSpec{MaxReceiveCount: new(int32(0))}}), "spec.dataServices.queues[0].deadLetter.maxReceiveCount"},
	"a topic's name":                   {topic(nexusv1.TopicSpec{Name: "A"}), "spec.dataServices.topics[0].name"},
	"a topic twice":                    {topic(nexusv1.TopicSpec{Name: "a"}, nexusv1.TopicSpec{Name: "a"}), "spec.dataServices.topics[1]"},
	"a subscription of no queue":       {topic(nexusv1.TopicSpec{Name: "a", SubscribeQueues: []nexusv1.QueueName{"jobs", "other"}}), "spec.dataServices.topics[0].subscribeQueues[1]"},
	"a subscription of a dead letter":  {topic(nexusv1.TopicSpec{Name: "a", SubscribeQueues: []nexusv1.QueueName{"jobs-dlq"}}), "spec.dataServices.topics[0].subscribeQueues[0]"},
	"a queue subscribed twice":         {topic(nexusv1.TopicSpec{Name: "a", SubscribeQueues: []nexusv1.QueueName{"jobs", "jobs"}}), "spec.dataServices.topics[0].subscribeQueues[1]"},
	"a FIFO queue of a standard topic": {topic(nexusv1.TopicSpec{Name: "a", SubscribeQueues: []nexusv1.QueueName{"calls"}}), "spec.dataServices.topics[0].subscribeQueues[0]"},
	"Bedrock in no region":             {bedrock(func(b *nexusv1.BedrockSpec) { b.Region = "*" }), "spec.dataServices.bedrock.region"},
	"no intent name":                   {intents(nexusv1.IntentReference{Name: "No_DNS"}), "spec.security.intents[0].name"},
	"no component at all": {func(c *nexusv1.NexusAICapability) {
		c.Spec.Frontend, c.Spec.Backend = nexusv1.FrontendSpec{}, nexusv1.BackendSpec{}
	}, "spec"},
	"a component named backend":    {components(aService("backend")), "spec.components[0].name"},
	"a component named policies":   {components(aService("policies")), "spec.components[0].name"},
	"a component in upper case":    {components(aService("Chat")), "spec.components[0].name"},
	"two components of a name":     {components(aService("chat"), aService("chat")), "spec.components[1]"},
	"a component with a long name": {components(aService(strings.Repeat("a", 40)), func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = strings.Repeat("b", 20) }), "spec.components[0].name"},
	"a component of no type":       {components(with("chat", func(n *nexusv1.NamedComponentSpec) { n.Type = "Daemon" })), "spec.components[0].type"},
	"a component without an image": {components(with("chat", func(n *nexusv1.NamedComponentSpec) { n.Image = "" })), "spec.components[0].image"},
	"a worker with a route":        {components(worker("w", func(n *nexusv1.NamedComponentSpec) { n.Routes = routes("/w") })), "spec.components[0].routes"},
	"a worker with a Service":      {components(worker("w", func(n *nexusv1.NamedComponentSpec) { n.Service = &nexusv1.ServiceSpec{} })), "spec.components[0].service"},
	"a worker whose probe needs a port": {components(worker("w", func(n *nexusv1.NamedComponentSpec) {
		n.Probes = &nexusv1.ProbesSpec{Liveness: &nexusv1.Probe{TCPSocket: &nexusv1.TCPProbe{}}}
	})), "spec.components[0].probes.liveness"},
	"a path twice":                   {components(with("a", paths("/a")), with("b", paths("/b", "/a"))), "spec.components[1].routes[1].path"},
	"the path of the backend":        {components(with("a", paths("/api"))), "spec.components[0].routes[0].path"},
	"a path with a slash at its end": {components(with("a", paths("/a/"))), "spec.components[0].routes[0].path"},
	"a path that is relative":        {components(with("a", paths("a"))), "spec.components[0].routes[0].path"},
	"access to what does not exist":  {components(with("a", access("orders"))), "spec.components[0].access[0]"},
	"access to the wrong field":      {components(with("a", access("queues/openai"))), "spec.components[0].access[0]"},
	"access of the frontend":         {func(c *nexusv1.NexusAICapability) { c.Spec.Frontend.Access = &[]nexusv1.AccessName{"openai", "orders"} }, "spec.frontend.access[1]"},
	"access to a secret left out":    {components(withoutSecrets, with("a", access("openai"))), "spec.components[0].access[0]"},
	"access twice":                   {components(with("a", access("openai", "openai"))), "spec.components[0].access[1]"},
	"access in upper case":           {components(with("a", access("Openai"))), "spec.components[0].access[0]"},
	"a percentage of a component": {components(with("a", func(n *nexusv1.NamedComponentSpec) {
		n.PDB = &nexusv1.DisruptionBudgetSpec{MinAvailable: new(intstr.FromString("half"))}
	})), "spec.components[0].pdb.minAvailable"},
	"no component":                 {intents(nexusv1.IntentReference{Name: "a", Component: "database"}), "spec.security.intents[0].component"},
	"an intent twice":              {intents(nexusv1.IntentReference{Name: "a"}, nexusv1.IntentReference{Name: "a"}), "spec.security.intents[1]"},
	"twice for one":                {intents(forBackend("a"), forFrontend("a"), forBackend("a")), "spec.security.intents[2]"},
	"for both and for one":         {intents(nexusv1.IntentReference{Name: "a"}, forBackend("a")), "spec.security.intents[1]"},
	"for one and for both":         {intents(forBackend("a"), nexusv1.IntentReference{Name: "b"}, nexusv1.IntentReference{Name: "a"}), "spec.security.intents[2]"},
	"33 intents":                   {intents(make([]nexusv1.IntentReference, 33)...), "spec.security.intents"},
	"the operator's namespace":     {func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName, c.Spec.Environment = "nexus", "system" }, "spec.capabilityName"},
	"a region that does not exist": {func(c *nexusv1.NexusAICapability) { c.Spec.Region = "xx-nowhere-9" }, "spec.region"},
	"an image in upper case":       {image("registry.example/App:1"), "spec.backend.image"},
	"an image with a space":        {image("registry.example/a b"), "spec.backend.image"},
	"an image with an empty tag":   {image("registry.example/app:"), "spec.backend.image"},
	"an image with a scheme":       {image("https://registry.example/app:1"), "spec.backend.image"},
	"an image with a bad digest":   {image("registry.example/app@sha256:abc"), "spec.backend.image"},
	"an ALB group by annotation": {ingress(func(i *nexusv1.IngressSpec) {
		i.Annotations = map[string]nexusv1.AnnotationValue{"alb.ingress.kubernetes.io/group.name": "shared"}
	}), "spec.ingress.annotations[alb.ingress.kubernetes.io/group.name]"},
	"an ALB group's order by annotation": {ingress(func(i *nexusv1.IngressSpec) {
		i.Annotations = map[string]nexusv1.AnnotationValue{"alb.ingress.kubernetes.io/group.order": "1"}
	}), "spec.ingress.annotations[alb.ingress.kubernetes.io/group.order]"},
	"an annotation that the operator sets": {ingress(func(i *nexusv1.IngressSpec) {
		i.Annotations = map[string]nexusv1.AnnotationValue{"alb.ingress.kubernetes.io/scheme": "internet-facing"}
	}), "spec.ingress.annotations[alb.ingress.kubernetes.io/scheme]"},
	"an annotation of the operator": {ingress(func(i *nexusv1.IngressSpec) {
		i.Annotations = map[string]nexusv1.AnnotationValue{"nexus.ai/capability": "other/one"}
	}), "spec.ingress.annotations[nexus.ai/capability]"},
	"an annotation of a Service that the operator sets": {func(c *nexusv1.NexusAICapability) {
		c.Spec.Frontend.Service = &nexusv1.ServiceSpec{Annotations: map[string]nexusv1.AnnotationValue{"service.beta.kubernetes.io/aws-load-balancer-internal": "false"}}
	}, "spec.frontend.service.annotations[service.beta.kubernetes.io/aws-load-balancer-internal]"},
	"a table key of another region":     {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.KMSKeyArn = key("us-east-1", "123456789012") }), "spec.dataServices.dynamodb.kmsKeyArn"},
	"a bucket key of another region":    {data(func(d *nexusv1.DataServicesSpec) { d.S3.KMSKeyArn = key("us-east-1", "123456789012") }), "spec.dataServices.s3.kmsKeyArn"},
	"a table key of another account":    {data(func(d *nexusv1.DataServicesSpec) { d.DynamoDB.KMSKeyArn = key("eu-central-1", "999999999999") }), "spec.dataServices.dynamodb.kmsKeyArn"},
	"a bucket key of another account":   {data(func(d *nexusv1.DataServicesSpec) { d.S3.KMSKeyArn = key("eu-central-1", "999999999999") }), "spec.dataServices.s3.kmsKeyArn"},
	"infrequent access too early":       {moving(nil, 29, "STANDARD_IA"), "spec.dataServices.s3.buckets[1].lifecycle[0].transitions[0].days"},
	"one zone too early":                {moving(nil, 0, "ONEZONE_IA"), "spec.dataServices.s3.buckets[1].lifecycle[0].transitions[0].days"},
	"expiry before a transition":        {moving(new(int32(10)), 20, "GLACIER"), "spec.dataServices.s3.buckets[1].lifecycle[0].expirationDays"},
	"expiry on the day of a transition": {moving(new(int32(20)), 20, "GLACIER"), "spec.dataServices.s3.buckets[1].lifecycle[0].expirationDays"},
	"a schedule of five fields":         {scheduled("cron(15 12 * * ?)"), scheduleField},
	"a schedule with two days":          {scheduled("cron(15 12 1 * MON *)"), scheduleField},
	"a schedule with neither day":       {scheduled("cron(15 12 ? * ? *)"), scheduleField},
	"a schedule at minute 60":           {scheduled("cron(60 12 * * ? *)"), scheduleField},
	"a schedule in month 13":            {scheduled("cron(0 12 1 13 ? *)"), scheduleField},
	"a schedule of words":               {scheduled("cron(every day at noon sharp please)"), scheduleField},
	"a bad variable":                    {component(func(c *nexusv1.ComponentSpec) { c.Env = []nexusv1.EnvVar{{Name: "1 A"}} }), "spec.backend.env[0].name"},
	"a variable of the operator":        {component(func(c *nexusv1.ComponentSpec) { c.Env = []nexusv1.EnvVar{{Name: "NEXUS_REGION", Value: "x"}} }), "spec.backend.env[0].name"},
	"a variable of EKS":                 {component(func(c *nexusv1.ComponentSpec) { c.Env = []nexusv1.EnvVar{{Name: "AWS_ROLE_ARN", Value: "x"}} }), "spec.backend.env[0].name"},
	"a long command":                    {component(func(c *nexusv1.ComponentSpec) { c.Command = make([]nexusv1.CommandArgument, 65) }), "spec.backend.command"},
	"a long argument": {component(func(c *nexusv1.ComponentSpec) {
		c.Args = []nexusv1.CommandArgument{nexusv1.CommandArgument(strings.Repeat("x", 4097))}
	}), "spec.backend.args[0]"},
	"a variable twice": {component(func(c *nexusv1.ComponentSpec) { c.Env = []nexusv1.EnvVar{{Name: "A"}, {Name: "A"}} }), "spec.backend.env[1]"},
	"a value from nowhere": {component(func(c *nexusv1.ComponentSpec) {
		c.Env = []nexusv1.EnvVar{{Name: "A", ValueFrom: &nexusv1.EnvVarSource{}}}
	}), "spec.backend.env[0].valueFrom"},
	"a value and a source": {component(func(c *nexusv1.ComponentSpec) {
		c.Env = []nexusv1.EnvVar{{Name: "A", Value: "x", ValueFrom: &nexusv1.EnvVarSource{FieldRef: &nexusv1.PodFieldSelector{FieldPath: "metadata.name"}}}}
	}), "spec.backend.env[0]"},
	"an unknown field of the pod": {component(func(c *nexusv1.ComponentSpec) {
		c.Env = []nexusv1.EnvVar{{Name: "A", ValueFrom: &nexusv1.EnvVarSource{FieldRef: &nexusv1.PodFieldSelector{FieldPath: "status.phase"}}}}
	}), "spec.backend.env[0].valueFrom.fieldRef.fieldPath"},
	"no key of a Secret": {component(func(c *nexusv1.ComponentSpec) {
		c.Env = []nexusv1.EnvVar{{Name: "A", ValueFrom: &nexusv1.EnvVarSource{SecretKeyRef: &nexusv1.EnvKeySelector{Name: "s"}}}}
	}), "spec.backend.env[0].valueFrom.secretKeyRef.key"},
	"variables from nowhere": {component(func(c *nexusv1.ComponentSpec) { c.EnvFrom = []nexusv1.EnvFromSource{{}} }), "spec.backend.envFrom[0]"},
	"variables of no ConfigMap": {component(func(c *nexusv1.ComponentSpec) {
		c.EnvFrom = []nexusv1.EnvFromSource{{ConfigMapRef: &nexusv1.EnvSourceReference{Name: "A_B"}}}
	}), "spec.backend.envFrom[0].configMapRef.name"},
	"no pull secret": {component(func(c *nexusv1.ComponentSpec) { c.ImagePullSecrets = []nexusv1.ImagePullSecret{{}} }), "spec.backend.imagePullSecrets[0].name"},
	"a pull secret twice": {component(func(c *nexusv1.ComponentSpec) {
		c.ImagePullSecrets = []nexusv1.ImagePullSecret{{Name: "a"}, {Name: "a"}}
	}), "spec.backend.imagePullSecrets[1]"},
	"a probe of nothing":   {component(func(c *nexusv1.ComponentSpec) { c.Probes = &nexusv1.ProbesSpec{Readiness: &nexusv1.Probe{}} }), "spec.backend.probes.readiness"},
	"two kinds of a probe": {liveness(nexusv1.Probe{TCPSocket: &nexusv1.TCPProbe{}, GRPC: &nexusv1.GRPCProbe{}}), "spec.backend.probes.liveness"},
	"two successes":        {liveness(nexusv1.Probe{TCPSocket: &nexusv1.TCPProbe{}, SuccessThreshold: 2}), "spec.backend.probes.liveness.successThreshold"},
	"a port of no name":    {liveness(nexusv1.Probe{TCPSocket: &nexusv1.TCPProbe{Port: new(intstr.FromString("web"))}}), "spec.backend.probes.liveness.tcpSocket.port"},
	"a relative probe":     {liveness(nexusv1.Probe{HTTPGet: &nexusv1.HTTPProbe{Path: "x"}}), "spec.backend.probes.liveness.httpGet.path"},
	"no command":           {liveness(nexusv1.Probe{Exec: &nexusv1.ExecProbe{}}), "spec.backend.probes.liveness.exec.command"},
	"a negative delay":     {liveness(nexusv1.Probe{TCPSocket: &nexusv1.TCPProbe{}, InitialDelaySeconds: -1}), "spec.backend.probes.liveness.initialDelaySeconds"},
	"a negative drain":     {component(func(c *nexusv1.ComponentSpec) { c.DrainSeconds = new(int64(-1)) }), "spec.backend.drainSeconds"},
	"no grace":             {component(func(c *nexusv1.ComponentSpec) { c.TerminationGracePeriodSeconds = new(int64(0)) }), "spec.backend.terminationGracePeriodSeconds"},
	"no label of a node":   {component(func(c *nexusv1.ComponentSpec) { c.NodeSelector = map[string]nexusv1.LabelValue{"disk": "a b"} }), "spec.backend.nodeSelector.disk"},
	"a toleration of all":  {component(func(c *nexusv1.ComponentSpec) { c.Tolerations = []nexusv1.Toleration{{Operator: "Equal"}} }), "spec.backend.tolerations[0]"},
	"a lasting toleration": {component(func(c *nexusv1.ComponentSpec) {
		c.Tolerations = []nexusv1.Toleration{{Key: "a", Effect: "NoSchedule", TolerationSeconds: new(int64(3))}}
	}), "spec.backend.tolerations[0]"},
	"no taint effect": {component(func(c *nexusv1.ComponentSpec) { c.Tolerations = []nexusv1.Toleration{{Key: "a", Effect: "Never"}} }), "spec.backend.tolerations[0].effect"},
	"no nodes": {component(func(c *nexusv1.ComponentSpec) {
		c.Affinity = &nexusv1.AffinitySpec{NodeAffinity: &nexusv1.NodeAffinity{Required: &nexusv1.NodeSelector{}}}
	}), "spec.backend.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"},
	"values for Exists": {component(func(c *nexusv1.ComponentSpec) {
		c.Affinity = &nexusv1.AffinitySpec{NodeAffinity: &nexusv1.NodeAffinity{Preferred: []nexusv1.PreferredNodes{{Weight: 1, Preference: nexusv1.NodeSelectorTerm{
			MatchExpressions: []nexusv1.NodeRequirement{{Key: "a", Operator: "Exists", Values: []nexusv1.LabelValue{"b"}}}}}}}}
	}), "spec.backend.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values"},
	"a weight of 101": {component(func(c *nexusv1.ComponentSpec) {
		c.Affinity = &nexusv1.AffinitySpec{PodAntiAffinity: &nexusv1.PodAffinity{Preferred: []nexusv1.PreferredPods{{Weight: 101, PodAffinityTerm: podTerm}}}}
	}), "spec.backend.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
	"no skew": {component(func(c *nexusv1.ComponentSpec) {
		c.TopologySpreadConstraints = []nexusv1.TopologySpread{{TopologyKey: "zone", WhenUnsatisfiable: "DoNotSchedule"}}
	}), "spec.backend.topologySpreadConstraints[0].maxSkew"},
	"domains of a wish": {component(func(c *nexusv1.ComponentSpec) {
		c.TopologySpreadConstraints = []nexusv1.TopologySpread{{TopologyKey: "zone", WhenUnsatisfiable: "ScheduleAnyway", MaxSkew: 1, MinDomains: new(int32(2))}}
	}), "spec.backend.topologySpreadConstraints[0].minDomains"},
	"root":                      {secure(nexusv1.SecurityContextSpec{RunAsUser: new(int64(0))}), "spec.backend.securityContext.runAsUser"},
	"root by name":              {secure(nexusv1.SecurityContextSpec{RunAsNonRoot: new(false)}), "spec.backend.securityContext.runAsNonRoot"},
	"privileges":                {secure(nexusv1.SecurityContextSpec{Privileged: new(true)}), "spec.backend.securityContext.privileged"},
	"more privileges":           {secure(nexusv1.SecurityContextSpec{AllowPrivilegeEscalation: new(true)}), "spec.backend.securityContext.allowPrivilegeEscalation"},
	"a Linux capability":        {secure(nexusv1.SecurityContextSpec{Capabilities: &nexusv1.CapabilitiesSpec{Add: []nexusv1.LinuxCapability{"SYS_ADMIN"}}}), "spec.backend.securityContext.capabilities.add"},
	"no seccomp":                {secure(nexusv1.SecurityContextSpec{SeccompProfile: &nexusv1.SeccompProfileSpec{Type: "Unconfined"}}), "spec.backend.securityContext.seccompProfile.type"},
	"no seccomp file":           {secure(nexusv1.SecurityContextSpec{SeccompProfile: &nexusv1.SeccompProfileSpec{Type: "Localhost"}}), "spec.backend.securityContext.seccompProfile.localhostProfile"},
	"a volume twice":            {scratch(nexusv1.ScratchVolume{Name: "a", MountPath: "/a"}, nexusv1.ScratchVolume{Name: "a", MountPath: "/b"}), "spec.backend.scratchVolumes[1]"},
	"a mount path twice":        {scratch(nexusv1.ScratchVolume{Name: "a", MountPath: "/a"}, nexusv1.ScratchVolume{Name: "b", MountPath: "/a"}), "spec.backend.scratchVolumes[1].mountPath"},
	"a relative mount path":     {scratch(nexusv1.ScratchVolume{Name: "a", MountPath: "a"}), "spec.backend.scratchVolumes[0].mountPath"},
	"a volume over the root":    {scratch(nexusv1.ScratchVolume{Name: "a", MountPath: "/"}), "spec.backend.scratchVolumes[0].mountPath"},
	"a volume over credentials": {scratch(nexusv1.ScratchVolume{Name: "a", MountPath: "/var/run/secrets"}), "spec.backend.scratchVolumes[0].mountPath"},
	"a volume of no size":       {scratch(nexusv1.ScratchVolume{Name: "a", MountPath: "/a", SizeLimit: new(resource.MustParse("0"))}), "spec.backend.scratchVolumes[0].sizeLimit"},
	"no medium":                 {scratch(nexusv1.ScratchVolume{Name: "a", MountPath: "/a", Medium: "Tape"}), "spec.backend.scratchVolumes[0].medium"},
	"two budgets": {component(func(c *nexusv1.ComponentSpec) {
		c.PDB = &nexusv1.DisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(1))}
	}), "spec.backend.pdb"},
	"a budget of words": {component(func(c *nexusv1.ComponentSpec) {
		c.PDB = &nexusv1.DisruptionBudgetSpec{MinAvailable: new(intstr.FromString("half"))}
	}), "spec.backend.pdb.minAvailable"},
	"a budget below 0": {component(func(c *nexusv1.ComponentSpec) {
		c.PDB = &nexusv1.DisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(-1))}
	}), "spec.backend.pdb.maxUnavailable"},
	"no greatest number": {component(func(c *nexusv1.ComponentSpec) { c.Autoscaling = &nexusv1.AutoscalingSpec{} }), "spec.backend.autoscaling.max"},
	"min over max":       {component(func(c *nexusv1.ComponentSpec) { c.Autoscaling = &nexusv1.AutoscalingSpec{Min: new(int32(5)), Max: 4} }), "spec.backend.autoscaling.min"},
	"a target of 0": {component(func(c *nexusv1.ComponentSpec) {
		c.Autoscaling = &nexusv1.AutoscalingSpec{Max: 4, TargetCPU: new(int32(0))}
	}), "spec.backend.autoscaling.targetCPU"},
	"scaling by nothing": {component(func(c *nexusv1.ComponentSpec) {
		c.Autoscaling = &nexusv1.AutoscalingSpec{Max: 4}
		c.Resources = &nexusv1.ComponentResources{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	}), "spec.backend.autoscaling"},
	"no key of a Service": {component(func(c *nexusv1.ComponentSpec) {
		c.Service = &nexusv1.ServiceSpec{Annotations: map[string]nexusv1.AnnotationValue{"a b": ""}}
	}), "spec.backend.service.annotations[a b]"},
	"another region than the provider's": {func(c *nexusv1.NexusAICapability) { c.Spec.Region = "us-west-2" }, "spec.region"},
}

// podTerm is a legal one.
var podTerm = nexusv1.PodAffinityTerm{TopologyKey: "kubernetes.io/hostname", LabelSelector: nexusv1.PodSelector{MatchLabels: map[string]nexusv1.LabelValue{"app": "db"}}}

// component edits the backend.
func component(e func(*nexusv1.ComponentSpec)) edit {
	return func(c *nexusv1.NexusAICapability) { e(&c.Spec.Backend.ComponentSpec) }
}

func liveness(p nexusv1.Probe) edit {
	return component(func(c *nexusv1.ComponentSpec) { c.Probes = &nexusv1.ProbesSpec{Liveness: &p} })
}

func secure(s nexusv1.SecurityContextSpec) edit {
	return component(func(c *nexusv1.ComponentSpec) { c.SecurityContext = &s })
}

func scratch(volumes ...nexusv1.ScratchVolume) edit {
	return component(func(c *nexusv1.ComponentSpec) { c.ScratchVolumes = volumes })
}

const scheduleField = "spec.dataServices.glue.crawler.schedule"

func scheduled(s string) edit {
	return data(func(d *nexusv1.DataServicesSpec) { d.Glue.Crawler = &nexusv1.CrawlerSpec{Schedule: s} })
}

func image(ref string) edit {
	return func(c *nexusv1.NexusAICapability) { c.Spec.Backend.Image = ref }
}

func key(region, account string) string {
	return "arn:aws:kms:" + region + ":" + account + ":key/1234abcd-12ab-34cd-56ef-1234567890ab"
}

func moving(expiration *int32, days int32, class string) edit {
	return bucket(nexusv1.BucketSpec{Name: "a", Lifecycle: []nexusv1.LifecycleRule{
		{ID: "r", ExpirationDays: expiration, Transitions: []nexusv1.LifecycleTransition{{Days: days, StorageClass: class}}}}})
}

func TestCron_AllowsTheExamplesOfAWS(t *testing.T) {
	for _, s := range []string{"cron(0 10 * * ? *)", "cron(15 12 * * ? *)", "cron(0 18 ? * MON-FRI *)", "cron(0 8 1 * ? *)", "cron(0/15 * * * ? *)", "cron(0/10 * ? * MON-FRI *)",
		"cron(0/5 8-17 ? * MON-FRI *)", "cron(0 9 ? * 2#1 *)", "cron(0 0 L * ? 2030)", "cron(0 0 15W JAN,JUL ? 2026-2030)", "cron(0 0 ? * 6L *)"} {
		if err := capability.Validate(minimal(scheduled(s)), facts()); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
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

func bedrock(change func(*nexusv1.BedrockSpec)) edit {
	return data(func(d *nexusv1.DataServicesSpec) {
		d.Bedrock = &nexusv1.BedrockSpec{Models: []nexusv1.BedrockModel{{Name: "chat", ModelID: "amazon.nova-lite-v1:0"}}}
		change(d.Bedrock)
	})
}

func queue(list ...nexusv1.QueueSpec) edit {
	return data(func(d *nexusv1.DataServicesSpec) { d.Queues = list })
}

func topic(list ...nexusv1.TopicSpec) edit {
	return data(func(d *nexusv1.DataServicesSpec) {
		d.Queues, d.Topics = []nexusv1.QueueSpec{{Name: "jobs", DeadLetter: &nexusv1.DeadLetterSpec{}}, {Name: "calls", FIFO: true}}, list
	})
}

func profileARN(region, account string) string {
	return "arn:aws:bedrock:" + region + ":" + account + ":application-inference-profile/abc123"
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
	f.Provider.Region, f.Regions = "eu-central-1", []string{"eu-central-1", "us-west-2"}
	f.Limits.AllowedIngressGroups = []string{"team-a"}
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
		c := anyCapability().Draw(t, "capability")
		if err := capability.Validate(c, bounded(c, facts())); err != nil {
			t.Fatalf("%v", err)
		}
	})
}

func TestRightsWithinTheAdministratorsBoundaryAreGiven(t *testing.T) {
	f := facts()
	f.Provider.Boundary = boundary
	c := minimal(rights(boundary, "sqs:SendMessage"))
	list := policies(t, object(t, compile(t, c, f), "IAMRole/myapp-dev-app-role"))
	if len(list) != 2 || list[1].Statement[0].Action[0] != "sqs:SendMessage" {
		t.Errorf("got %+v", list)
	}
}

func TestTheProvidersBoundaryCannotBeReplaced(t *testing.T) {
	f := facts()
	f.Provider.Boundary = boundary
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
	f.Provider.Boundary = boundary
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
	f.Provider.Region = "eu-central-1"
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
