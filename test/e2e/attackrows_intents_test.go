// SPDX-License-Identifier: Apache-2.0

package e2e

// The rows of the table on capabilities, on security intents and on what the keeper of one namespace's providers may do.

var attacksOnCapabilities = []attack{
	{wants: "the namespace kube-system", kind: "NexusAICapability", spec: `{capabilityName: kube, environment: system}`, refused: []string{"spec.capabilityName", "kube-"}},
	{wants: "a namespace of Kubernetes", kind: "NexusAICapability", spec: `{capabilityName: kube-node, environment: lease}`, refused: []string{"spec.capabilityName", "kube-"}},
	{wants: "names that AWS reserves", kind: "NexusAICapability", spec: `capabilityName: aws-controltower`, refused: []string{"spec.capabilityName", "AWS reserves"}},
	{wants: "parameters of Systems Manager", kind: "NexusAICapability", spec: `capabilityName: ssm`, refused: []string{"spec.capabilityName", "AWS reserves"}},
	{wants: "a capability name with a slash", kind: "NexusAICapability", spec: `capabilityName: finance/db`, refused: []string{"spec.capabilityName"}},
	{wants: "a capability name with a star", kind: "NexusAICapability", spec: `capabilityName: "fin*"`, refused: []string{"spec.capabilityName"}},
	{wants: "a capability name that looks like another", kind: "NexusAICapability", spec: `capabilityName: "fin\u0430nce"`, refused: []string{"spec.capabilityName"}},
	{wants: "a second line in a capability name", kind: "NexusAICapability", spec: `capabilityName: "finance\nx"`, refused: []string{"spec.capabilityName"}},
	{wants: "an environment that continues the name", kind: "NexusAICapability", spec: `environment: dev-eu`, refused: []string{"spec.environment"}},
	{wants: "an environment that climbs", kind: "NexusAICapability", spec: `environment: ../prod`, refused: []string{"spec.environment"}},
	{wants: "a label by its version", kind: "NexusAICapability", spec: `version: "1,nexus.ai/owner=x"`, refused: []string{"spec.version"}},
	{wants: "a bucket outside its names", kind: "NexusAICapability", spec: `dataServices: {s3: {buckets: [{name: ../finance}]}}`, refused: []string{"buckets[0].name"}},
	{wants: "a table outside its names", kind: "NexusAICapability", spec: `dataServices: {dynamodb: {tables: [{name: "*"}]}}`, refused: []string{"tables[0].name"}},
	{wants: "a secret outside its path", kind: "NexusAICapability", spec: `secrets: [{name: ../../finance/db, placeholder: {keys: [a]}}]`, refused: []string{"secrets[0].name"}},
	{wants: "another namespace's Secret as a value", kind: "NexusAICapability", spec: `secrets: [{name: openai, valueFrom: {name: ../../victim-dev/secrets/token, key: value}}]`, refused: []string{"secrets[0].valueFrom.name"}},
	{wants: "two sources of one secret", kind: "NexusAICapability", spec: `secrets: [{name: openai, valueFrom: {name: token, key: value}, generate: {}}]`, refused: []string{"secrets[0]", "not both"}},
	{wants: "a key of a secret that is code", kind: "NexusAICapability", spec: `secrets: [{name: openai, placeholder: {keys: ["a\", \"b"]}}]`, refused: []string{"placeholder.keys[0]"}},
	{wants: "a provider without a name", kind: "NexusAICapability", spec: `providerRef: {name: ""}`, refused: []string{"spec.providerRef.name"}},
	{wants: "every KMS key", kind: "NexusAICapability", spec: `dataServices: {s3: {kmsKeyArn: "arn:aws:kms:ap-southeast-1:123456789012:key/*"}}`, refused: []string{"kmsKeyArn"}},
	{wants: "the KMS key of another account", kind: "NexusAICapability", spec: `dataServices: {s3: {kmsKeyArn: "arn:aws:kms:ap-southeast-1:999999999999:key/abc"}}`, reason: "InvalidSpec", says: []string{"kmsKeyArn", "999999999999"}},
	{wants: "rights without a boundary", kind: "NexusAICapability", spec: `identity: {extraPolicyStatements: [{actions: ["sqs:SendMessage"], resources: ["*"]}]}`, refused: []string{"extraPolicyStatements need permissionsBoundaryARN"}},
	{wants: "rights in IAM", kind: "NexusAICapability", spec: extra(`["iam:PassRole"]`, `["*"]`), refused: []string{"cannot be granted"}},
	{wants: "to assume roles", kind: "NexusAICapability", spec: extra(`["sts:AssumeRole"]`, `["*"]`), refused: []string{"cannot be granted"}},
	{wants: "rights in IAM in other letters", kind: "NexusAICapability", spec: extra(`["IAM:PassRole"]`, `["*"]`), refused: []string{"actions[0]"}},
	{wants: "rights in every service", kind: "NexusAICapability", spec: extra(`["*"]`, `["*"]`), refused: []string{"actions[0]"}},
	{wants: "rights in services by a pattern", kind: "NexusAICapability", spec: extra(`["i*:PassRole"]`, `["*"]`), refused: []string{"actions[0]"}},
	{wants: "a resource of two lines", kind: "NexusAICapability", spec: extra(`["sqs:SendMessage"]`, `["arn:aws:sqs:a\nb"]`), refused: []string{"resources[0]"}},
	{wants: "a boundary of its own choice", kind: "NexusAICapability", spec: extra(`["sqs:SendMessage"]`, `["*"]`), reason: "NotPermitted", says: []string{"spec.identity.extraPolicyStatements", "administrator"}},
	{wants: "a model without a boundary", kind: "NexusAICapability", spec: bedrock(`models: [{name: chat, modelID: "amazon.nova-lite-v1:0"}]`), reason: "NotPermitted", says: []string{"spec.dataServices.bedrock", "administrator"}},
	{wants: "a knowledge base without a boundary", kind: "NexusAICapability", spec: bedrock(`knowledgeBases: [{name: finance, id: KB12345678}]`), reason: "NotPermitted", says: []string{"spec.dataServices.bedrock", "administrator"}},
	{wants: "every model", kind: "NexusAICapability", spec: `{providerRef: {name: bounded}, dataServices: {bedrock: {models: [{name: chat, modelID: "*"}]}}}`, refused: []string{"models[0].modelID"}},
	{wants: "every knowledge base", kind: "NexusAICapability", spec: `{providerRef: {name: bounded}, dataServices: {bedrock: {knowledgeBases: [{name: a, id: "*"}]}}}`, refused: []string{"knowledgeBases[0].id"}},
	{wants: "the profile of another account", kind: "NexusAICapability", reason: "InvalidSpec", says: []string{"models[0].inferenceProfile", "999999999999"},
		spec: `{providerRef: {name: bounded}, dataServices: {bedrock: {models: [{name: chat, modelID: "amazon.nova-lite-v1:0", inferenceProfile: "arn:aws:bedrock:ap-southeast-1:999999999999:application-inference-profile/abc"}]}}}`},
	{wants: "every queue", kind: "NexusAICapability", spec: `dataServices: {queues: [{name: "*"}]}`, refused: []string{"queues[0].name"}},
	{wants: "a queue by its ARN", kind: "NexusAICapability", spec: `dataServices: {queues: [{name: "arn:aws:sqs:ap-southeast-1:123456789012:finance"}]}`, refused: []string{"queues[0].name"}},
	{wants: "the dead-letter queue of another queue", kind: "NexusAICapability", spec: `dataServices: {queues: [{name: jobs-dlq}]}`, refused: []string{"queues[0].name", "dead-letter"}},
	{wants: "to turn a queue into another", kind: "NexusAICapability", spec: `{suspend: true, dataServices: {queues: [{name: jobs}]}}`, edit: `{spec: {dataServices: {queues: [{name: jobs, fifo: true}]}}}`, refused: []string{"fifo is immutable"}},
	{wants: "another boundary than the provider's", kind: "NexusAICapability", reason: "NotPermitted", says: []string{"spec.identity.permissionsBoundaryARN", "bounds every role"},
		spec: `{providerRef: {name: bounded}, identity: {permissionsBoundaryARN: "arn:aws:iam::aws:policy/AdministratorAccess"}}`},
	{wants: "a boundary that is no policy", kind: "NexusAICapability", spec: `identity: {permissionsBoundaryARN: "arn:aws:iam::123456789012:role/x"}`, refused: []string{"permissionsBoundaryARN"}},
	{wants: "another team's load balancer", kind: "NexusAICapability", spec: `ingress: {groupName: finance}`, reason: "NotPermitted", says: []string{"spec.ingress.groupName", "--allowed-ingress-groups"}},
	{wants: "another team's load balancer by annotation", kind: "NexusAICapability", spec: `ingress: {annotations: {alb.ingress.kubernetes.io/group.name: finance}}`, refused: []string{"annotations", "groupName"}},
	{wants: "to come first in a load balancer", kind: "NexusAICapability", spec: `ingress: {annotations: {alb.ingress.kubernetes.io/group.order: "-1"}}`, refused: []string{"annotations", "groupName"}},
	{wants: "an annotation of two lines", kind: "NexusAICapability", spec: `ingress: {annotations: {"a\nb": x}}`, refused: []string{"not a legal annotation key"}},
	{wants: "two certificates in one field", kind: "NexusAICapability", spec: `ingress: {certificateArn: "arn:aws:acm:ap-southeast-1:123456789012:certificate/a,arn:aws:acm:ap-southeast-1:999999999999:certificate/b"}`, refused: []string{"certificateArn"}},
	{wants: "a host with a path", kind: "NexusAICapability", spec: `ingress: {host: "finance.example.com/admin"}`, refused: []string{"host"}},
	{wants: "every host", kind: "NexusAICapability", spec: `ingress: {host: "*"}`, refused: []string{"host"}},
	{wants: "a health check of two lines", kind: "NexusAICapability", spec: `ingress: {healthCheckPath: "/a\n/b"}`, refused: []string{"healthCheckPath"}},
	{wants: "an intent by a path", kind: "NexusAICapability", spec: `security: {intents: [{name: ../x}]}`, refused: []string{"intents[0].name"}},
	{wants: "an image of two words", kind: "NexusAICapability", spec: `backend: {image: "a b"}`, refused: []string{"spec.backend.image"}},
	{wants: "an image that is no image", kind: "NexusAICapability", spec: `backend: {image: "http://example.com/x"}`, reason: "InvalidSpec", says: []string{"spec.backend.image"}},
	{wants: "another namespace's names", kind: "NexusAICapability", spec: `capabilityName: victim`, reason: "NameConflict", says: []string{"spec.capabilityName"}},
	{wants: "to become another capability", kind: "NexusAICapability", spec: `suspend: true`, edit: `{spec: {capabilityName: victim}}`, refused: []string{"capabilityName is immutable"}},
	{wants: "to move to production", kind: "NexusAICapability", spec: `suspend: true`, edit: `{spec: {environment: prod}}`, refused: []string{"environment is immutable"}},
	{wants: "to move to another region", kind: "NexusAICapability", spec: `suspend: true`, edit: `{spec: {region: eu-west-1}}`, refused: []string{"region is immutable"}},
}

// bedrock is a capability's data services that name something in Bedrock.
func bedrock(what string) string { return `dataServices: {bedrock: {` + what + `}}` }

// extra is an identity with one more statement, behind a boundary of the tenant's choice.
func extra(actions, resources string) string {
	return `identity: {permissionsBoundaryARN: "arn:aws:iam::aws:policy/AdministratorAccess", extraPolicyStatements: [{actions: ` + actions + `, resources: ` + resources + `}]}`
}

var attacksOnIntents = []attack{
	{wants: "the name of a cluster binding's policy", kind: "SecurityIntentBinding", meta: `name: nimbus-ctlr-gen-all`, refused: []string{"reserved"}},
	{wants: "a filter of another version", kind: "SecurityIntentBinding", spec: `selector: {any: [{resources: {namespaces: [victim-dev]}}]}`, refused: []string{"any, all and match"}},
	{wants: "expressions that are dropped", kind: "SecurityIntentBinding", spec: `selector: {matchExpressions: [{key: a, operator: Exists}]}`, refused: []string{"matchExpressions"}},
	{wants: "nested expressions that are dropped", kind: "SecurityIntentBinding", spec: `selector: {workloadSelector: {matchExpressions: [{key: a, operator: Exists}]}}`, refused: []string{"matchExpressions"}},
	{wants: "pods of other namespaces by CEL", kind: "SecurityIntentBinding", spec: `cel: ["object.metadata.namespace == 'victim-dev'"]`, condition: "SelectorUnsupported", reason: "SelectorUnsupported"},
	{wants: "all pods by an alternative in CEL", kind: "SecurityIntentBinding", spec: `selector: {cel: ["labels.app == 'a' || true"]}`, condition: "SelectorUnsupported", reason: "SelectorUnsupported"},
	{wants: "to load the operator by CEL", kind: "SecurityIntentBinding", spec: `selector: {cel: ["labels.all(a, labels.all(b, labels.all(c, a + b + c != '')))"]}`, condition: "SelectorUnsupported", reason: "SelectorUnsupported"},
}

var attacksOfKeepers = []attack{
	{wants: "its keys sent to its own server", kind: "AWSProvider", keeper: true, spec: `{endpoint: "https://evil.test", credentialsSecret: {name: keys}}`, reason: "EndpointNotAllowed", says: []string{"spec.endpoint", "--allowed-endpoints"}},
	{wants: "a server that hides behind an allowed one", kind: "AWSProvider", keeper: true, spec: `{endpoint: "https://a.example.com@evil.example.com", credentialsSecret: {name: keys}}`, reason: "EndpointNotAllowed", says: []string{"spec.endpoint", "plain URL"}},
	{wants: "an endpoint without TLS", kind: "AWSProvider", keeper: true, spec: `{endpoint: "http://127.evil.test", credentialsSecret: {name: keys}}`, reason: "EndpointNotAllowed", says: []string{"spec.endpoint", "https"}},
	{wants: "the operator's own keys sent to a server", kind: "AWSProvider", keeper: true, spec: `endpoint: "https://a.example.com"`, reason: "EndpointNotAllowed", says: []string{"spec.endpoint", "own credentials"}},
	{wants: "an endpoint of another protocol", kind: "AWSProvider", keeper: true, spec: `endpoint: "file:///etc/passwd"`, refused: []string{"spec.endpoint"}},
	{wants: "the operator's own identity", kind: "AWSProvider", keeper: true, reason: "AmbientNotAllowed", says: []string{"--ambient-namespaces", "credentialsSecret"}},
	{wants: "a role assumed with the operator's own identity", kind: "AWSProvider", keeper: true, spec: `roleARN: "arn:aws:iam::123456789012:role/finance-admin"`, reason: "AmbientNotAllowed", says: []string{"finance-admin", "--ambient-namespaces"}},
	{wants: "a second hop with the operator's own identity", kind: "AWSProvider", keeper: true, spec: `assumeRoleARN: "arn:aws:iam::123456789012:role/finance-admin"`, reason: "AmbientNotAllowed", says: []string{"finance-admin", "--ambient-namespaces"}},
	{wants: "the operator's own identity by a forged owner", kind: "AWSProvider", keeper: true, reason: "AmbientNotAllowed", says: []string{"--ambient-namespaces"},
		meta: `ownerReferences: [{apiVersion: nexus.ai/v1, kind: NexusAICapability, name: owner, uid: OWNER, controller: true}]`},
	{wants: "another ExternalID", kind: "AWSProvider", keeper: true, spec: `{externalID: victims-id, roleARN: "arn:aws:iam::123456789012:role/x", credentialsSecret: {name: keys}}`, reason: "ExternalIDNotAllowed", says: []string{"spec.externalID", "--allow-custom-external-id"}},
	{wants: "an ExternalID for no role", kind: "AWSProvider", keeper: true, spec: `externalID: victims-id`, refused: []string{"externalID needs roleARN"}},
	{wants: "the credentials of another namespace", kind: "AWSProvider", keeper: true, spec: `credentialsSecret: {name: token, namespace: victim-dev}`, reason: "InvalidSpec", says: []string{"spec.credentialsSecret.namespace"}},
	{wants: "the key ID of another namespace", kind: "AWSProvider", keeper: true, reason: "InvalidSpec", says: []string{"spec.accessKeyIDRef.namespace"},
		spec: `{accessKeyIDRef: {name: token, namespace: victim-dev, key: value}, secretAccessKeyRef: {name: keys, key: AWS_SECRET_ACCESS_KEY}}`},
	{wants: "the secret key of another namespace", kind: "AWSProvider", keeper: true, reason: "InvalidSpec", says: []string{"spec.secretAccessKeyRef.namespace"},
		spec: `{accessKeyIDRef: {name: keys, key: AWS_ACCESS_KEY_ID}, secretAccessKeyRef: {name: token, namespace: victim-dev, key: value}}`},
	{wants: "credentials that exist only elsewhere", kind: "AWSProvider", keeper: true, spec: `credentialsSecret: {name: token}`, reason: "CredentialsMissing", says: []string{"keeper/token"}},
	{wants: "credentials by a path", kind: "AWSProvider", keeper: true, spec: `credentialsSecret: {name: ../../victim/secrets/token}`, refused: []string{"spec.credentialsSecret.name"}},
	{wants: "one key alone", kind: "AWSProvider", keeper: true, spec: `accessKeyIDRef: {name: keys, key: AWS_ACCESS_KEY_ID}`, refused: []string{"set both or neither"}},
	{wants: "a role of a shape that IAM does not know", kind: "AWSProvider", keeper: true, spec: `roleARN: "arn:aws:iam::123456789012:role/a,arn:aws:iam::1:role/b:c"`, refused: []string{"spec.roleARN"}},
	{wants: "an account that its own list does not name", kind: "AWSProvider", keeper: true, spec: `{allowedAccountIDs: ["210987654321"], credentialsSecret: {name: keys}}`, reason: "AccountNotAllowed", says: []string{"spec.allowedAccountIDs"}},
	{wants: "owner tags on everything", kind: "AWSProvider", keeper: true, spec: `defaultTags: {nexus.ai/owner: x}`, refused: []string{"spec.defaultTags"}},
	{wants: "owner tags in other letters on everything", kind: "AWSProvider", keeper: true, spec: `defaultTags: {NEXUS.AI/owner: x}`, refused: []string{"spec.defaultTags"}},
	{wants: "a boundary that is no policy", kind: "AWSProvider", keeper: true, spec: `permissionsBoundaryARN: "arn:aws:iam::123456789012:role/x"`, refused: []string{"spec.permissionsBoundaryARN"}},
	{wants: "a path of two lines", kind: "AWSProvider", keeper: true, spec: `rolePathPrefix: "/a\n/"`, refused: []string{"spec.rolePathPrefix"}},
	{wants: "the first role of a chain of another shape", kind: "AWSProvider", keeper: true, spec: `assumeRoleARN: "arn:aws:sts::123456789012:assumed-role/a/b"`, refused: []string{"spec.assumeRoleARN"}},
	{wants: "a region that is a host", kind: "AWSProvider", keeper: true, spec: `region: "evil.test/#"`, refused: []string{"spec.region"}},
}
