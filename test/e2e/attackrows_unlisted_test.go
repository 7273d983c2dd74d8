// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
)

// attacksOfSpelling spell a name so that two readers may see two names.
var attacksOfSpelling = []attack{
	{wants: "a bucket in capital letters", kind: "S3Bucket", spec: `bucketName: Finance-Reports`, refused: []string{"spec.bucketName"}},
	{wants: "a repository in capital letters", kind: "ECRRepository", spec: `repositoryName: Finance`,
		refused: []string{"spec.repositoryName"}},
	{wants: "a record with an escape", kind: "Route53RecordSet", spec: `name: "\\052.example.com"`, refused: []string{"spec.name"}},
	{wants: "an owner record behind an escape", kind: "Route53RecordSet", spec: `name: "\\137nexus-3f0c5a1e9b72.example.com"`,
		refused: []string{"spec.name"}},
	{wants: "a zone by the path of the API", kind: "Route53RecordSet", spec: `hostedZoneID: /hostedzone/Z1D633PJN98FT9`,
		refused: []string{"spec.hostedZoneID"}},
	{wants: "a record that looks like another", kind: "Route53RecordSet", spec: `name: "fin\u0430nce.example.com"`,
		refused: []string{"spec.name"}},
	{wants: "a certificate for two levels of names", kind: "Certificate", spec: `domainName: "*.*.example.com"`,
		refused: []string{"spec.domainName"}},
	{wants: "a certificate for a name of two lines", kind: "Certificate", spec: `domainName: "a.example.com\nb.example.com"`,
		refused: []string{"spec.domainName"}},
	{wants: "a path that ends with a slash", kind: "SSMParameterSet", spec: `path: /victim/dev/`, refused: []string{"spec.path"}},
	{wants: "another capability's parameters from the level above", kind: "SSMParameterSet",
		spec: `{path: /victim, parameters: {dev/app/version: {value: mine}}}`, reason: "NameConflict",
		says: []string{"capability of another namespace"}},
	{wants: "a sign-in page of Cognito's own", kind: "CognitoUserPool", spec: `domain: my-cognito`, refused: []string{"must not contain aws"}},
	{wants: "a key pair of two lines", kind: "EC2KeyPair", spec: `keyName: "a\nb"`, refused: []string{"spec.keyName"}},
	{wants: "an alias without its prefix", kind: "KMSKey", spec: `aliases: [finance]`, refused: []string{"spec.aliases[0]"}},
	{wants: "every account of Kubernetes", kind: "IAMRole", spec: `irsa: {serviceAccount: "*"}`,
		refused: []string{"spec.irsa.serviceAccount"}},
	{wants: "a variable as an account of Kubernetes", kind: "IAMRole", spec: `irsa: {serviceAccount: "${aws:userid}"}`,
		refused: []string{"spec.irsa.serviceAccount"}},
	{wants: "every account of Kubernetes by Pod Identity", kind: "IAMRole",
		spec: `podIdentity: {clusterName: production, serviceAccount: "*"}`, refused: []string{"spec.podIdentity.serviceAccount"}},
	{wants: "an association for every account of Kubernetes", kind: "PodIdentityAssociation", spec: `serviceAccount: "*"`,
		refused: []string{"spec.serviceAccount"}},
	{wants: "an association for every namespace", kind: "PodIdentityAssociation", spec: `namespace: "*"`, refused: []string{"spec.namespace"}},
	{wants: "a host in capital letters", kind: "NexusAICapability", spec: `ingress: {host: Finance.example.com}`, refused: []string{"host"}},
	{wants: "a host with a dot at its end", kind: "NexusAICapability", spec: `ingress: {host: "finance.example.com."}`,
		refused: []string{"host"}},
	{wants: "a host that looks like another", kind: "NexusAICapability", spec: `ingress: {host: "fin\u0430nce.example.com"}`,
		refused: []string{"host"}},
	{wants: "hosts of two levels", kind: "NexusAICapability", spec: `ingress: {host: "*.*.example.com"}`, refused: []string{"host"}},
	{wants: "a host with a port", kind: "NexusAICapability", spec: `ingress: {host: "finance.example.com:8443"}`, refused: []string{"host"}},
	{wants: "the tag of the cluster in other letters", kind: "SQSQueue", spec: `tags: {NEXUS.ai/cluster: x}`,
		refused: []string{"spec.tags", "nexus.ai/"}},
	{wants: "the tag of the owner's UID", kind: "SNSTopic", spec: `tags: {nexus.ai/owner-uid: VICTIM}`,
		refused: []string{"spec.tags", "nexus.ai/"}},
	{wants: "a name of a binding that the API server completes", kind: "SecurityIntentBinding",
		meta: `{name: "", generateName: nimbus-ctlr-gen-}`, refused: []string{"reserved"}},
}

// attacksByPassing have AWS act as a role that the tenant may not pass.
var attacksByPassing = []attack{
	{wants: "a role beside the path in other letters", kind: "GlueCrawler", spec: "role: /TEAM/x\n" + throughPath, reason: "NotPermitted",
		says: []string{"spec.role", "/team/"}},
	{wants: "a role by a path that climbs", kind: "GlueCrawler", spec: "role: /team/../finance-admin\n" + throughPath, reason: "NotPermitted",
		says: []string{"spec.role"}},
	{wants: "a role of another partition", kind: "GlueCrawler", spec: `role: "arn:aws-cn:iam::123456789012:role/team/x"` + "\n" + throughPath,
		reason: "NotPermitted", says: []string{"spec.role"}},
	{wants: "a function that acts as a role by its ARN", kind: "LambdaFunction",
		spec: `{roleRef: null, role: "arn:aws:iam::123456789012:role/finance-admin"}`, reason: "NotPermitted",
		says: []string{"spec.role", "rolePathPrefix"}},
	{wants: "a function that acts as a role that it observes", kind: "LambdaFunction", spec: `roleRef: {name: observed}`,
		reason: "NotPermitted", says: []string{"IAMRole/observed", "only observes"}},
	{wants: "a cluster that acts as a role by its ARN", kind: "EKSCluster",
		spec: `{roleRef: null, roleARN: "arn:aws:iam::123456789012:role/finance-admin"}`, reason: "NotPermitted",
		says: []string{"spec.roleARN", "rolePathPrefix"}},
	{wants: "a stream of messages as a role by its ARN", kind: "SNSTopic", reason: "NotPermitted",
		says: []string{"subscriptionRoleArn", "rolePathPrefix"},
		spec: `subscriptions: [{protocol: firehose, endpoint: "arn:aws:firehose:ap-southeast-1:123456789012:deliverystream/a", subscriptionRoleArn: "arn:aws:iam::123456789012:role/finance-admin"}]`},
	{wants: "a stream of messages as a role that it observes", kind: "SNSTopic", reason: "NotPermitted",
		says: []string{"IAMRole/observed", "only observes"},
		spec: `subscriptions: [{protocol: firehose, endpoint: "arn:aws:firehose:ap-southeast-1:123456789012:deliverystream/a", subscriptionRoleRef: {name: observed}}]`},
	{wants: "a service-linked role for replication", kind: "S3Bucket",
		spec:   replicatesAs("arn:aws:iam::123456789012:role/aws-service-role/support.amazonaws.com/AWSServiceRoleForSupport") + throughPath,
		reason: "NotPermitted", says: []string{"spec.replication.roleArn"}},
	{wants: "an instance profile by a path", kind: "EC2Instance", spec: `iamInstanceProfile: /team/admin`,
		refused: []string{"spec.iamInstanceProfile"}},
	{wants: "to be trusted by every federated user", kind: "IAMRole", spec: trusts(`"Principal":{"Federated":"*"}`), reason: "NotPermitted",
		says: []string{"spec.assumeRolePolicyDocument", `principal "*"`}},
	{wants: "to be trusted by every account by a pattern", kind: "IAMRole", spec: trusts(`"Principal":{"AWS":"arn:aws:iam::*:root"}`),
		reason: "NotPermitted", says: []string{"spec.assumeRolePolicyDocument"}},
	{wants: "all actions in an array", kind: "IAMRole", spec: grants(`"Action":["s3:GetObject","*:*"],"Resource":"*"`), reason: "NotPermitted",
		says: []string{"spec.inlinePolicies[p]"}},
}

// attacksByRecords forge what the operator writes into the metadata of objects, as a backup of another object would have it.
var attacksByRecords = []attack{
	{wants: "a bucket by the record of its creation", kind: "S3Bucket", spec: `bucketName: victims-bucket`, reason: "Conflict",
		says: []string{"another namespace"},
		meta: `{annotations: {nexus.ai/intent: '{"uid":"VICTIM","attempt":1,"at":"2001-01-01T00:00:00Z"}'}, finalizers: [aws-infra-operator.runner.codes/s3bucket-finalizer]}`},
	{wants: "a bucket by what an earlier object left", kind: "S3Bucket", spec: `bucketName: victims-bucket`, reason: "Conflict",
		says: []string{"another namespace"},
		meta: `annotations: {nexus.ai/kept-0123456789abcdef: '{"kind":"S3Bucket","namespace":"victim-dev","name":"victims-bucket"}'}`},
	{wants: "a bucket by an object without its content", kind: "S3Bucket", spec: `bucketName: victims-bucket`, reason: "Conflict",
		says: []string{"another namespace"},
		meta: `annotations: {nexus.ai/incomplete-in-cache: "true", nexus.ai/desired-hash: x}`},
	{wants: "a bucket by the annotation of its capability", kind: "S3Bucket", spec: `bucketName: victims-bucket`, reason: "Conflict",
		says: []string{"another namespace"},
		meta: `annotations: {nexus.ai/capability: victim-dev/victim-dev, nexus.ai/owner: NexusAICapability/victim-dev/victim-dev}`},
	{wants: "a role by the record of its creation", kind: "IAMRole", spec: "roleName: victim-dev-app-role\n" + forApp, reason: "Conflict",
		says: []string{"another namespace"},
		meta: `{annotations: {nexus.ai/intent: '{"uid":"VICTIM","attempt":1,"at":"2001-01-01T00:00:00Z"}'}, finalizers: [aws-infra-operator.runner.codes/iamrole-finalizer]}`},
	{wants: "a table of nobody by the record of its creation", kind: "DynamoDBTable", spec: `tableName: finance-ledger`, reason: "Conflict",
		says: []string{"no owner"},
		meta: `{annotations: {nexus.ai/intent: '{"uid":"OWNER","attempt":9,"at":"2001-01-01T00:00:00Z"}'}}`},
	{wants: "a bucket of another account by its record", kind: "S3Bucket", spec: `bucketName: victims-bucket`, reason: "ProviderMoved",
		says: []string{"210987654321"},
		meta: `{annotations: {nexus.ai/home: aws/210987654321/eu-west-1}, finalizers: [aws-infra-operator.runner.codes/s3bucket-finalizer]}`},
}

// attacksOnPods weaken the pods of a capability or what leads to them.
var attacksOnPods = []attack{
	{wants: "a privileged container", kind: "NexusAICapability",
		spec: `backend: {image: "registry.example/b:1", securityContext: {privileged: true}}`, refused: []string{"privileged"}},
	{wants: "more capabilities of Linux", kind: "NexusAICapability",
		spec: `backend: {image: "registry.example/b:1", securityContext: {capabilities: {add: [NET_ADMIN]}}}`, refused: []string{"capabilities"}},
	{wants: "the profile of a node", kind: "NexusAICapability",
		spec:    `backend: {image: "registry.example/b:1", securityContext: {seccompProfile: {type: Localhost, localhostProfile: ../x}}}`,
		refused: []string{"seccompProfile"}},
	{wants: "a Secret of a path in the environment", kind: "NexusAICapability",
		spec:    `backend: {image: "registry.example/b:1", env: [{name: A, valueFrom: {secretKeyRef: {name: ../victim-dev/token, key: value}}}]}`,
		refused: []string{"secretKeyRef"}},
	{wants: "every key of a Secret of a path", kind: "NexusAICapability",
		spec: `backend: {image: "registry.example/b:1", envFrom: [{secretRef: {name: victim-dev/token}}]}`, refused: []string{"secretRef"}},
	{wants: "a Secret of a path for images", kind: "NexusAICapability",
		spec: `backend: {image: "registry.example/b:1", imagePullSecrets: [{name: victim-dev/pull}]}`, refused: []string{"imagePullSecrets"}},
	{wants: "a variable of two names", kind: "NexusAICapability",
		spec: `backend: {image: "registry.example/b:1", env: [{name: "A=1\nB", value: x}]}`, refused: []string{"env"}},
	{wants: "a mark of the operator on a Service", kind: "NexusAICapability",
		spec:    `backend: {image: "registry.example/b:1", service: {annotations: {nexus.ai/owner: x}}}`,
		refused: []string{"annotations", "nexus.ai/*"}},
	{wants: "a mark of the operator on an Ingress", kind: "NexusAICapability",
		spec: `ingress: {annotations: {nexus.ai/capability: victim-dev/victim-dev}}`, refused: []string{"annotations", "nexus.ai/*"}},
	{wants: "another's certificate by an annotation", kind: "NexusAICapability",
		spec:    `ingress: {annotations: {alb.ingress.kubernetes.io/certificate-arn: "arn:aws:acm:ap-southeast-1:123456789012:certificate/a"}}`,
		refused: []string{"certificate-arn"}},
	{wants: "a million pods", kind: "NexusAICapability", spec: `backend: {image: "registry.example/b:1", replicas: 1000000}`,
		refused: []string{"replicas"}},
	{wants: "a million pods under load", kind: "NexusAICapability",
		spec: `backend: {image: "registry.example/b:1", autoscaling: {enabled: true, min: 1, max: 1000000}}`, refused: []string{"autoscaling"}},
}

// attacksByLoad are too large or take too long.
var attacksByLoad = []attack{
	{wants: "a plan of nested lists", kind: "PlanRequest", reason: "InvalidSpec", says: []string{"spec.manifests[0]"},
		spec: `{objects: null, manifests: ['` + strings.Repeat("[", 20000) + `']}`},
	{wants: "a plan of references to references", kind: "PlanRequest", reason: "InvalidSpec", says: []string{"spec.manifests[0]"},
		spec: `{objects: null, manifests: ["a: &a [x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]"]}`},
	{wants: "a plan of too many objects", kind: "PlanRequest", refused: []string{"spec.objects"},
		spec: `objects: [` + strings.Repeat(`{kind: S3Bucket, name: a},`, 33) + `]`},
	{wants: "a plan of too large an object", kind: "PlanRequest", refused: []string{"spec.manifests"},
		spec: `{objects: null, manifests: ['` + strings.Repeat("x", 65537) + `']}`},
	{wants: "a filter of pods that takes long to match", kind: "SecurityIntentBinding", spec: `cel: ["labels.app.matches('(a+)+$')"]`,
		condition: "SelectorUnsupported", reason: "SelectorUnsupported"},
	{wants: "a filter of pods of any length", kind: "SecurityIntentBinding", spec: `cel: ["` + strings.Repeat("a", 1025) + `"]`,
		refused: []string{"spec.cel[0]"}},
	{wants: "a binding of too many intents", kind: "SecurityIntentBinding", spec: `intents: [` + strings.Repeat(`{name: dns},`, 65) + `]`,
		refused: []string{"spec.intents"}},
	{wants: "a policy of any length", kind: "S3Bucket", spec: `policy: '` + strings.Repeat("x", 100000) + `'`,
		refused: []string{"spec.policy"}},
	{wants: "too many parameters", kind: "SSMParameterSet", spec: `parameters: {` + manyParameters(2000) + `}`,
		refused: []string{"spec.parameters"}},
}

// attacksByOtherPlans ask for plans of what a tenant may not declare.
var attacksByOtherPlans = []attack{
	{wants: "a plan of a binding of the cluster", kind: "PlanRequest", reason: "InvalidSpec", says: []string{"spec.manifests[0].kind"},
		spec: planOf("intent.security.nimbus.com/v1alpha1", "ClusterSecurityIntentBinding", "a")},
	{wants: "a plan of an intent", kind: "PlanRequest", reason: "InvalidSpec", says: []string{"spec.manifests[0].kind"},
		spec: planOf("intent.security.nimbus.com/v1alpha1", "SecurityIntent", "a")},
	{wants: "a plan of a plan", kind: "PlanRequest", reason: "InvalidSpec", says: []string{"spec.manifests[0].kind"},
		spec: planOf("nexus.ai/v1", "PlanRequest", "a")},
	{wants: "a plan of a list", kind: "PlanRequest", reason: "InvalidSpec", says: []string{"spec.manifests[0].kind"},
		spec: planOf("v1", "List", "a")},
	{wants: "a plan of another version", kind: "PlanRequest", reason: "InvalidSpec", says: []string{"spec.manifests[0]"},
		spec: planOf("aws-infra-operator.runner.codes/v9", "S3Bucket", "a")},
	{wants: "a plan of a name that climbs", kind: "PlanRequest", reason: "InvalidSpec", says: []string{"spec.manifests[0].metadata.name"},
		spec: planOf("aws-infra-operator.runner.codes/v1alpha1", "S3Bucket", "../victim-dev/a")},
	{wants: "a plan of an object without a name", kind: "PlanRequest", reason: "InvalidSpec",
		says: []string{"spec.manifests[0].metadata.name"}, spec: planOf("aws-infra-operator.runner.codes/v1alpha1", "S3Bucket", "")},
	{wants: "a plan of Secrets by their resource", kind: "PlanRequest", spec: `objects: [{kind: secrets, name: token}]`, reason: "InvalidSpec",
		says: []string{"spec.objects[0].kind"}},
	{wants: "a plan of a provider's deletion", kind: "PlanRequest", spec: `{objects: [{kind: AWSProvider, name: aws}], deletion: true}`,
		reason: "InvalidSpec", says: []string{"spec.objects[0].kind"}},
	{wants: "a plan of a deletion of what does not exist yet", kind: "PlanRequest", spec: `{objects: null, deletion: true, manifests: ["{}"]}`,
		refused: []string{"deletion goes with objects"}},
}

// attacksFromTwoNamespaces lists the namespaces of a tenant of both namespaces, which does not make them one.
var attacksFromTwoNamespaces = []attack{
	{wants: "the provider of its other namespace", kind: "IAMRole", spec: forApp + "\nproviderRef: {name: aws, namespace: SECOND}",
		reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "a role for pods of its other namespace", kind: "IAMRole", spec: `irsa: {serviceAccount: app, namespace: SECOND}`,
		reason: "NotPermitted", says: []string{"spec.irsa.namespace"}},
	{wants: "a Secret of its other namespace", kind: "SecretsManagerSecret",
		spec: `secretStringRef: {name: token, namespace: SECOND, key: value}`, reason: "NotPermitted",
		says: []string{"spec.secretStringRef.namespace"}},
	{wants: "a plan in its other namespace", kind: "PlanRequest", reason: "InvalidSpec",
		says: []string{"spec.manifests[0].metadata.namespace"},
		spec: `{objects: null, manifests: ['{"apiVersion":"aws-infra-operator.runner.codes/v1alpha1","kind":"S3Bucket","metadata":{"name":"a","namespace":"SECOND"},"spec":{}}']}`},
	{wants: "the bucket of its other namespace", kind: "S3Bucket",
		spec: "bucketName: bucket-of-second\nadoptionPolicy: Always\ndeletionPolicy: Delete", reason: "Conflict",
		says: []string{"another namespace"}},
}

// planOf is a request for the plan of an object.
func planOf(version, kind, name string) string {
	return fmt.Sprintf(`{objects: null, manifests: ['{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},"spec":{}}']}`, version, kind, name)
}

func manyParameters(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "p%d: {value: x}, ", i)
	}
	return b.String()
}
