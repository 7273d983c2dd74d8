// SPDX-License-Identifier: Apache-2.0

package e2e

// The rows of the table on the kinds of AWS. The texts of specs are YAML, in which NAME is the object's own name.

const (
	trustGlue   = `assumeRolePolicyDocument: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},"Action":"sts:AssumeRole"}]}'`
	throughPath = `providerRef: {name: pathed}`
	bounded     = `providerRef: {name: bounded}`
	forApp      = `irsa: {serviceAccount: app}`
	irsaBounded = bounded + "\n" + forApp + "\n"
)

// trusts is a role behind a boundary that trusts a principal; grants is one that has a statement.
func trusts(statement string) string {
	return bounded + "\nassumeRolePolicyDocument: '{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\"," + statement + "}]}'"
}

func grants(statement string) string {
	return irsaBounded + "inlinePolicies: [{policyName: p, policyDocument: '{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\"," + statement + "}]}'}]"
}

var attacksOnNames = []attack{
	{wants: "a bucket name with a slash", kind: "S3Bucket", spec: `bucketName: finance/reports`, refused: []string{"spec.bucketName"}},
	{wants: "a bucket name that climbs", kind: "S3Bucket", spec: `bucketName: ../finance-reports`, refused: []string{"spec.bucketName"}},
	{wants: "a bucket name with two dots", kind: "S3Bucket", spec: `bucketName: finance..reports`, refused: []string{"spec.bucketName", "naming rules"}},
	{wants: "every bucket of finance", kind: "S3Bucket", spec: `bucketName: "finance*"`, refused: []string{"spec.bucketName"}},
	{wants: "a policy variable in a bucket's ARN", kind: "S3Bucket", spec: `bucketName: "${aws:username}"`, refused: []string{"spec.bucketName"}},
	{wants: "a second line in a bucket name", kind: "S3Bucket", spec: `bucketName: "finance\nreports"`, refused: []string{"spec.bucketName"}},
	{wants: "a line break at the end of a bucket name", kind: "S3Bucket", spec: `bucketName: "finance-reports\n"`, refused: []string{"spec.bucketName"}},
	{wants: "a bucket name that looks like another", kind: "S3Bucket", spec: `bucketName: "fin\u0430nce-reports"`, refused: []string{"spec.bucketName"}},
	{wants: "a bucket by its ARN", kind: "S3Bucket", spec: `bucketName: "arn:aws:s3:::finance-reports"`, refused: []string{"spec.bucketName"}},
	{wants: "a bucket name that S3 reserves", kind: "S3Bucket", spec: `bucketName: finance-s3alias`, refused: []string{"spec.bucketName", "naming rules"}},
	{wants: "a table by its ARN", kind: "DynamoDBTable", spec: `tableName: "arn:aws:dynamodb:ap-southeast-1:123456789012:table/finance-ledger"`, refused: []string{"spec.tableName"}},
	{wants: "every table of finance", kind: "DynamoDBTable", spec: `tableName: "finance*"`, refused: []string{"spec.tableName"}},
	{wants: "the index of a table", kind: "DynamoDBTable", spec: `tableName: finance-ledger/index/a`, refused: []string{"spec.tableName"}},
	{wants: "every database", kind: "GlueDatabase", spec: `databaseName: "*"`, refused: []string{"spec.databaseName"}},
	{wants: "a table of another database", kind: "GlueTable", spec: `tableName: ../finance/ledger`, refused: []string{"spec.tableName"}},
	{wants: "a crawler by its ARN", kind: "GlueCrawler", spec: `crawlerName: "arn:aws:glue:ap-southeast-1:123456789012:crawler/finance"` + "\n" + `role: x`, refused: []string{"spec.crawlerName"}},
	{wants: "parameters of AWS", kind: "SSMParameterSet", spec: `path: /aws/service/eks`, refused: []string{"spec.path", "/aws"}},
	{wants: "parameters of AWS in other letters", kind: "SSMParameterSet", spec: `path: /AWS/service`, refused: []string{"spec.path", "/aws"}},
	{wants: "parameters of Systems Manager", kind: "SSMParameterSet", spec: `path: /ssm/automation`, refused: []string{"spec.path", "/ssm"}},
	{wants: "all parameters", kind: "SSMParameterSet", spec: `path: /`, refused: []string{"spec.path"}},
	{wants: "an empty level in a path", kind: "SSMParameterSet", spec: `path: //finance`, refused: []string{"spec.path"}},
	{wants: "every path of finance", kind: "SSMParameterSet", spec: `path: "/finance/*"`, refused: []string{"spec.path"}},
	{wants: "a parameter outside the path", kind: "SSMParameterSet", spec: `parameters: {"/finance/key": {value: x}}`, refused: []string{"spec.parameters", "a parameter name consists of"}},
	{wants: "every parameter", kind: "SSMParameterSet", spec: `parameters: {"*": {value: x}}`, refused: []string{"spec.parameters", "a parameter name consists of"}},
	{wants: "a variable as a parameter's name", kind: "SSMParameterSet", spec: `parameters: {"${aws:username}": {value: x}}`, refused: []string{"spec.parameters", "a parameter name consists of"}},
	{wants: "a secret by its ARN", kind: "SecretsManagerSecret", spec: `secretName: "arn:aws:secretsmanager:ap-southeast-1:123456789012:secret:finance/db"`, refused: []string{"spec.secretName"}},
	{wants: "every secret of finance", kind: "SecretsManagerSecret", spec: `secretName: "finance/*"`, refused: []string{"spec.secretName"}},
	{wants: "the secret that RDS manages", kind: "SecretsManagerSecret", spec: `secretName: "rds!db-1"`, refused: []string{"spec.secretName"}},
	{wants: "a second line in a secret's name", kind: "SecretsManagerSecret", spec: `secretName: "finance\ndb"`, refused: []string{"spec.secretName"}},
	{wants: "a role name with a path", kind: "IAMRole", spec: "roleName: finance/admin\n" + forApp, refused: []string{"spec.roleName"}},
	{wants: "a role by its ARN", kind: "IAMRole", spec: "roleName: \"arn:aws:iam::123456789012:role/finance-admin\"\n" + forApp, refused: []string{"spec.roleName"}},
	{wants: "a path with a space", kind: "IAMRole", spec: "path: \"/team /\"\n" + forApp, refused: []string{"spec.path"}},
	{wants: "the name of an inline policy with a slash", kind: "IAMRole", spec: forApp + "\ninlinePolicies: [{policyName: ../a, policyDocument: '{}'}]", refused: []string{"policyName"}},
	{wants: "any VPC", kind: "VPC", spec: `importID: "*"`, refused: []string{"importID is vpc-"}},
	{wants: "a VPC by its ARN", kind: "VPC", spec: `importID: "arn:aws:ec2:ap-southeast-1:123456789012:vpc/vpc-0123456789abcdef0"`, refused: []string{"importID is vpc-"}},
	{wants: "a password in the object", kind: "RDSInstance", spec: `masterUserPassword: hunter22`, refused: []string{"masterUserPasswordSecretRef"}},
	{wants: "a queue by its ARN", kind: "SQSQueue", spec: `queueName: "arn:aws:sqs:ap-southeast-1:123456789012:finance-jobs"`, refused: []string{"spec.queueName"}},
	{wants: "a queue by its URL", kind: "SQSQueue", spec: `queueName: "https://sqs.ap-southeast-1.amazonaws.com/123456789012/jobs"`, refused: []string{"spec.queueName"}},
	{wants: "a topic by its ARN", kind: "SNSTopic", spec: `topicName: "arn:aws:sns:ap-southeast-1:123456789012:finance-alarms"`, refused: []string{"spec.topicName"}},
	{wants: "a second line in an endpoint", kind: "SNSTopic", spec: `subscriptions: [{protocol: email, endpoint: "a@example.com\nb"}]`, refused: []string{"spec.subscriptions[0].endpoint"}},
	{wants: "a repository by its ARN", kind: "ECRRepository", spec: `repositoryName: "arn:aws:ecr:ap-southeast-1:123456789012:repository/finance"`, refused: []string{"spec.repositoryName"}},
	{wants: "any hosted zone", kind: "Route53HostedZone", spec: `importID: "*"`, refused: []string{"importID is the ID of a hosted zone"}},
	{wants: "a private zone in any VPC", kind: "Route53HostedZone", spec: `{privateZone: true, vpcId: "*"}`, refused: []string{"spec.vpcId"}},
	{wants: "a record in any zone", kind: "Route53RecordSet", spec: `hostedZoneID: "*"`, refused: []string{"spec.hostedZoneID"}},
	{wants: "the name servers of a zone", kind: "Route53RecordSet", spec: `type: SOA`, refused: []string{"spec.type"}},
	{wants: "any certificate", kind: "Certificate", spec: `importID: "*"`, refused: []string{"importID is the ARN of a certificate"}},
	{wants: "any key", kind: "KMSKey", spec: `importID: "*"`, refused: []string{"importID is the ID of a key"}},
	{wants: "any user pool", kind: "CognitoUserPool", spec: `importID: "*"`, refused: []string{"importID is the ID of a user pool"}},
	{wants: "a domain that looks like one of AWS", kind: "CognitoUserPool", spec: `domain: aws-login`, refused: []string{"must not contain aws"}},
	{wants: "the sign-ins of another site", kind: "CognitoUserPool", spec: `clients: [{name: web, callbackURLs: ["http://localhost.evil.example/"]}]`, refused: []string{"a URL begins with https://"}},
	{wants: "sign-ins by a script", kind: "CognitoUserPool", spec: `clients: [{name: web, callbackURLs: ["javascript:alert(1)"]}]`, refused: []string{"spec.clients[0].callbackURLs"}},
	{wants: "a key of AWS", kind: "KMSKey", spec: `aliases: ["alias/aws/s3"]`, refused: []string{"alias/aws/"}},
	{wants: "the default security group", kind: "SecurityGroup", spec: `groupName: default`, refused: []string{"must not be default"}},
	{wants: "any address", kind: "ElasticIP", spec: `importID: "*"`, refused: []string{"importID is eipalloc-"}},
	{wants: "a NAT gateway in any subnet", kind: "NATGateway", spec: `subnetID: "*"`, refused: []string{"spec.subnetID"}},
	{wants: "a private key in a Secret", kind: "EC2KeyPair", spec: `secretRef: {name: login}`, refused: []string{"secretRef is not supported"}},
	{wants: "options in a public key", kind: "EC2KeyPair", spec: `publicKeyMaterial: "command=\"sh\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEUuCJpjUYhXhBWDpKuoN7hiULcVxxskUyKOkI//NLqP"`, refused: []string{"spec.publicKeyMaterial"}},
	{wants: "any instance", kind: "EC2Instance", spec: `importID: "*"`, refused: []string{"importID is i-"}},
	{wants: "the console of an instance", kind: "EC2Instance", spec: `enableConsoleOutput: true`, refused: []string{"enableConsoleOutput is not supported"}},
	{wants: "an instance profile by its ARN", kind: "EC2Instance", spec: `iamInstanceProfile: "arn:aws:iam::123456789012:instance-profile/admin"`, refused: []string{"spec.iamInstanceProfile"}},
	{wants: "a subnet in any VPC", kind: "Subnet", spec: `vpcID: "*"`, refused: []string{"spec.vpcID"}},
	{wants: "a name that hides its end", kind: "S3Bucket", meta: `name: ` + longName, refused: []string{"metadata.name has at most 150"}},
}

// longName is too long for the tags and labels that carry it.
const longName = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

var attacksOnRights = []attack{
	{wants: "its own AWS identity", kind: "AWSProvider", refused: []string{"awsproviders", "forbidden"}},
	{wants: "the status of a bucket", kind: "S3Bucket", spec: absent, sub: "status", edit: `{status: {arn: "arn:aws:s3:::finance-reports", id: finance-reports}}`, refused: []string{"s3buckets/status", "forbidden"}},
	{wants: "the status of a role, which others refer to", kind: "IAMRole", spec: absent + "\n" + forApp, sub: "status",
		edit: `{status: {arn: "arn:aws:iam::123456789012:role/finance-admin"}}`, refused: []string{"iamroles/status", "forbidden"}},
	{wants: "the status of a VPC", kind: "VPC", spec: absent, sub: "status", edit: `{status: {id: vpc-0123456789abcdef0}}`, refused: []string{"vpcs/status", "forbidden"}},
	{wants: "the URL of another queue", kind: "SQSQueue", spec: absent, sub: "status", edit: `{status: {queueURL: "https://sqs.ap-southeast-1.amazonaws.com/123456789012/finance"}}`, refused: []string{"sqsqueues/status", "forbidden"}},
	{wants: "another's subscriptions on its record", kind: "SNSTopic", spec: absent, sub: "status", edit: `{status: {managedSubscriptions: ["email finance@example.com"]}}`, refused: []string{"snstopics/status", "forbidden"}},
	{wants: "the status of a user pool", kind: "CognitoUserPool", spec: absent, sub: "status", edit: `{status: {id: eu-west-1_AbCdEf123}}`, refused: []string{"cognitouserpools/status", "forbidden"}},
	{wants: "the status of a repository", kind: "ECRRepository", spec: absent, sub: "status", edit: `{status: {repositoryUri: "evil.example/shop"}}`, refused: []string{"ecrrepositories/status", "forbidden"}},
	{wants: "the status of a hosted zone", kind: "Route53HostedZone", spec: absent, sub: "status", edit: `{status: {id: Z1D633PJN98FT9}}`, refused: []string{"route53hostedzones/status", "forbidden"}},
	{wants: "the status of a record set", kind: "Route53RecordSet", spec: absent, sub: "status", edit: `{status: {id: Z1D633PJN98FT9_finance.example.com_A}}`, refused: []string{"route53recordsets/status", "forbidden"}},
	{wants: "the status of a certificate", kind: "Certificate", spec: absent, sub: "status", edit: `{status: {arn: "arn:aws:acm:eu-west-1:123456789012:certificate/1"}}`, refused: []string{"certificates/status", "forbidden"}},
	{wants: "the status of an association", kind: "PodIdentityAssociation", spec: absent, sub: "status", edit: `{status: {id: a-1}}`, refused: []string{"podidentityassociations/status", "forbidden"}},
	{wants: "the status of a key", kind: "KMSKey", spec: absent, sub: "status", edit: `{status: {id: 1234abcd-12ab-34cd-56ef-1234567890ab}}`, refused: []string{"kmskeys/status", "forbidden"}},
	{wants: "the status of a capability", kind: "NexusAICapability", spec: `suspend: true`, sub: "status", edit: `{status: {phase: Running, ready: true}}`, refused: []string{"nexuscapabilities/status", "forbidden"}},
	{wants: "a bucket in another namespace", kind: "S3Bucket", meta: `namespace: victim-dev`, refused: []string{"s3buckets", "forbidden", "victim"}},
	{wants: "a role in another namespace", kind: "IAMRole", spec: forApp, meta: `namespace: victim-dev`, refused: []string{"iamroles", "forbidden", "victim"}},
	{wants: "a capability in another namespace", kind: "NexusAICapability", meta: `namespace: victim-dev`, refused: []string{"nexuscapabilities", "forbidden", "victim"}},
	{wants: "a binding in another namespace", kind: "SecurityIntentBinding", meta: `namespace: victim-dev`, refused: []string{"securityintentbindings", "forbidden", "victim"}},
	{wants: "an intent of the cluster", kind: "SecurityIntent", refused: []string{"securityintents", "forbidden"}},
	{wants: "a binding of the cluster", kind: "ClusterSecurityIntentBinding", refused: []string{"clustersecurityintentbindings", "forbidden"}},
	{wants: "a derived policy", kind: "NimbusPolicy", refused: []string{"nimbuspolicies", "forbidden"}},
	{wants: "a derived policy of the cluster", kind: "ClusterNimbusPolicy", refused: []string{"clusternimbuspolicies", "forbidden"}},
	{wants: "the status of a binding", kind: "SecurityIntentBinding", sub: "status", edit: `{status: {status: Created}}`, refused: []string{"securityintentbindings/status", "forbidden"}},
}

// absent leads an object to no provider, so that its creation is harmless.
const absent = `providerRef: {name: absent}`

// elsewhere leads an object to the provider of another namespace.
func replicatesAs(role string) string {
	return `replication: {roleArn: "` + role + `", rules: [{id: r, enabled: true, destination: {bucketArn: "arn:aws:s3:::mine"}}]}` + "\n"
}

const elsewhere = `providerRef: {name: aws, namespace: victim-dev}`

var attacksOnReferences = []attack{
	{wants: "another namespace's provider, for a bucket", kind: "S3Bucket", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a table", kind: "DynamoDBTable", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a Glue database", kind: "GlueDatabase", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a Glue table", kind: "GlueTable", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a crawler", kind: "GlueCrawler", spec: elsewhere + "\nrole: x", reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for parameters", kind: "SSMParameterSet", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a secret", kind: "SecretsManagerSecret", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a role", kind: "IAMRole", spec: elsewhere + "\n" + forApp, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a VPC", kind: "VPC", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a DB subnet group", kind: "DBSubnetGroup", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a DB instance", kind: "RDSInstance", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a queue", kind: "SQSQueue", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a topic", kind: "SNSTopic", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a user pool", kind: "CognitoUserPool", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a repository", kind: "ECRRepository", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a hosted zone", kind: "Route53HostedZone", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a record set", kind: "Route53RecordSet", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a certificate", kind: "Certificate", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for an association", kind: "PodIdentityAssociation", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a key", kind: "KMSKey", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a subnet", kind: "Subnet", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a security group", kind: "SecurityGroup", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for an internet gateway", kind: "InternetGateway", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for an address", kind: "ElasticIP", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a NAT gateway", kind: "NATGateway", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a key pair", kind: "EC2KeyPair", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for an instance", kind: "EC2Instance", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "another namespace's provider, for a route table", kind: "RouteTable", spec: elsewhere, reason: "InvalidSpec", says: []string{"spec.providerRef.namespace"}},
	{wants: "a provider by a path", kind: "S3Bucket", spec: `providerRef: {name: victim/aws}`, condition: "Reconciling", reason: "ProviderMissing", says: []string{"AWSProvider/victim/aws"}},
	{wants: "another namespace's Secret", kind: "SecretsManagerSecret", spec: `secretStringRef: {name: token, namespace: victim-dev, key: value}`, reason: "NotPermitted", says: []string{"spec.secretStringRef.namespace"}},
	{wants: "the bytes of another namespace's Secret", kind: "SecretsManagerSecret", spec: `secretBinaryRef: {name: token, namespace: victim-dev, key: value}`, reason: "NotPermitted", says: []string{"spec.secretBinaryRef.namespace"}},
	{wants: "a Secret that exists only elsewhere", kind: "SecretsManagerSecret", spec: `secretStringRef: {name: token, key: value}`, reason: "CredentialsMissing", says: []string{"NAMESPACE/token"}},
	{wants: "a Secret by a path", kind: "SecretsManagerSecret", spec: `secretStringRef: {name: ../../victim/secrets/token, key: value}`, refused: []string{"spec.secretStringRef.name"}},
	{wants: "to act as a role through an instance profile", kind: "EC2Instance", spec: `iamInstanceProfile: finance-admin`, reason: "NotPermitted", says: []string{"spec.iamInstanceProfile", "rolePathPrefix"}},
	{wants: "another namespace's Secret in user data", kind: "EC2Instance", spec: `userDataSecretRef: {name: token, namespace: victim-dev, key: value}`, reason: "NotPermitted", says: []string{"spec.userDataSecretRef.namespace"}},
	{wants: "to act as a role by its name", kind: "GlueCrawler", spec: `role: finance-admin`, reason: "NotPermitted", says: []string{"spec.role", "rolePathPrefix"}},
	{wants: "to act as a role by its ARN", kind: "GlueCrawler", spec: `role: "arn:aws:iam::123456789012:role/finance-admin"` + "\n" + throughPath, reason: "NotPermitted", says: []string{"spec.role", "/team/"}},
	{wants: "to act as a role of another account", kind: "GlueCrawler", spec: `role: "arn:aws:iam::999999999999:role/team/x"` + "\n" + throughPath, reason: "NotPermitted", says: []string{"spec.role", "999999999999"}},
	{wants: "to act as a user", kind: "GlueCrawler", spec: `role: "arn:aws:iam::123456789012:user/team/x"` + "\n" + throughPath, reason: "NotPermitted", says: []string{"spec.role", "/team/"}},
	{wants: "to act as a role whose boundary nobody knows", kind: "GlueCrawler", spec: "role: /team/x\n" + bounded, reason: "NotPermitted", says: []string{"spec.role", "bounds every role"}},
	{wants: "to act as a role that it only observes", kind: "GlueCrawler", spec: `roleRef: {name: observed}`, reason: "NotPermitted", says: []string{"IAMRole/observed", "only observes"}},
	{wants: "S3 to act as a role", kind: "S3Bucket", spec: replicatesAs("arn:aws:iam::123456789012:role/finance-admin"), reason: "NotPermitted", says: []string{"spec.replication.roleArn", "rolePathPrefix"}},
	{wants: "S3 to act as a role outside the path", kind: "S3Bucket", spec: replicatesAs("arn:aws:iam::123456789012:role/finance-admin") + throughPath, reason: "NotPermitted", says: []string{"spec.replication.roleArn", "/team/"}},
	{wants: "S3 to act as a role that it only observes", kind: "S3Bucket", spec: `replication: {roleRef: {name: observed}, rules: [{id: r, enabled: true, destination: {bucketArn: "arn:aws:s3:::mine"}}]}`, reason: "NotPermitted", says: []string{"IAMRole/observed", "only observes"}},
	{wants: "to act as two roles", kind: "GlueCrawler", spec: "role: finance-admin\nroleRef: {name: observed}", refused: []string{"exactly one of role and roleRef"}},
	{wants: "two databases at once", kind: "GlueTable", spec: `databaseRef: {name: lake}`, refused: []string{"exactly one of databaseName and databaseRef"}},
	{wants: "a database by a path", kind: "GlueTable", spec: "databaseName: null\ndatabaseRef: {name: victim/lake}", condition: "Reconciling", reason: "Waiting", says: []string{"GlueDatabase/victim/lake"}},
	{wants: "a role by a path", kind: "GlueCrawler", spec: `roleRef: {name: victim/role}`, condition: "Reconciling", reason: "Waiting", says: []string{"IAMRole/victim/role"}},
}

var attacksOnRoles = []attack{
	{wants: "its own trust without a boundary", kind: "IAMRole", spec: trustGlue, reason: "NotPermitted", says: []string{"spec.assumeRolePolicyDocument", "permissionsBoundaryARN"}},
	{wants: "its own policy without a boundary", kind: "IAMRole", reason: "NotPermitted", says: []string{"spec.inlinePolicies", "permissionsBoundaryARN"},
		spec: forApp + "\ninlinePolicies: [{policyName: p, policyDocument: '{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:GetObject\",\"Resource\":\"*\"}]}'}]"},
	{wants: "the single policy without a boundary", kind: "IAMRole", reason: "NotPermitted", says: []string{"spec.inlinePolicy", "permissionsBoundaryARN"},
		spec: forApp + "\ninlinePolicy: {policyName: p, policyDocument: '{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:GetObject\",\"Resource\":\"*\"}]}'}"},
	{wants: "AdministratorAccess", kind: "IAMRole", spec: forApp + "\nmanagedPolicyArns: [\"arn:aws:iam::aws:policy/AdministratorAccess\"]", reason: "NotPermitted", says: []string{"spec.managedPolicyArns", "permissionsBoundaryARN"}},
	{wants: "a boundary of its own choice", kind: "IAMRole", spec: irsaBounded + `permissionsBoundary: "arn:aws:iam::aws:policy/AdministratorAccess"`, reason: "NotPermitted", says: []string{"spec.permissionsBoundary", "bounds every role"}},
	{wants: "no boundary", kind: "IAMRole", spec: irsaBounded + `permissionsBoundary: ""`, reason: "NotPermitted", says: []string{"spec.permissionsBoundary", "bounds every role"}},
	{wants: "a role outside the path", kind: "IAMRole", spec: irsaBounded + `path: /finance/`, reason: "NotPermitted", says: []string{"spec.path", "/team/"}},
	{wants: "a role beside the path", kind: "IAMRole", spec: irsaBounded + `path: /teams/`, reason: "NotPermitted", says: []string{"spec.path", "/team/"}},
	{wants: "a service-linked role by its name", kind: "IAMRole", spec: "roleName: AWSServiceRoleForSupport\n" + forApp, reason: "NotPermitted", says: []string{"spec.roleName", "reserved"}},
	{wants: "a role of single sign-on", kind: "IAMRole", spec: "roleName: AWSReservedSSO_Admin\n" + forApp, reason: "NotPermitted", says: []string{"spec.roleName", "reserved"}},
	{wants: "a service-linked role by its path", kind: "IAMRole", spec: "path: /aws-service-role/x/\n" + forApp, reason: "NotPermitted", says: []string{"spec.path", "reserved"}},
	{wants: "a role under AWS's reserved path", kind: "IAMRole", spec: "path: /aws-reserved/sso.amazonaws.com/\n" + forApp, reason: "NotPermitted", says: []string{"spec.path", "reserved"}},
	{wants: "to be trusted by everybody", kind: "IAMRole", spec: trusts(`"Principal":"*"`), reason: "NotPermitted", says: []string{"spec.assumeRolePolicyDocument", `principal "*"`}},
	{wants: "to be trusted by every account", kind: "IAMRole", spec: trusts(`"Principal":{"AWS":["arn:aws:iam::123456789012:root","*"]}`), reason: "NotPermitted", says: []string{"spec.assumeRolePolicyDocument", `principal "*"`}},
	{wants: "to be trusted by everybody but one", kind: "IAMRole", spec: trusts(`"NotPrincipal":{"AWS":"arn:aws:iam::123456789012:root"}`), reason: "NotPermitted", says: []string{"spec.assumeRolePolicyDocument", "NotPrincipal"}},
	{wants: "to be trusted by a principal without a name", kind: "IAMRole", spec: trusts(`"Principal":{"AWS":"AROAEXAMPLEEXAMPLEEX"}`), reason: "InvalidSpec", says: []string{"spec.assumeRolePolicyDocument", "unique ID"}},
	{wants: "a trust that two parsers read differently", kind: "IAMRole", spec: trusts(`"Principal":{"Service":"glue.amazonaws.com"},"Principal":"*"`), reason: "InvalidSpec", says: []string{"spec.assumeRolePolicyDocument"}},
	{wants: "all actions", kind: "IAMRole", spec: grants(`"Action":"*","Resource":"*"`), reason: "NotPermitted", says: []string{"spec.inlinePolicies[p]", `action "*"`}},
	{wants: "all actions of IAM", kind: "IAMRole", spec: grants(`"Action":"iam:*","Resource":"*"`), reason: "NotPermitted", says: []string{"spec.inlinePolicies[p]", "iam:*"}},
	{wants: "all actions of IAM in other letters", kind: "IAMRole", spec: grants(`"Action":"IAM:**","Resource":"*"`), reason: "NotPermitted", says: []string{"spec.inlinePolicies[p]", "iam:*"}},
	{wants: "all actions of IAM by a pattern", kind: "IAMRole", spec: grants(`"Action":"i?m:*","Resource":"*"`), reason: "NotPermitted", says: []string{"spec.inlinePolicies[p]", "IAM"}},
	{wants: "all actions of IAM behind an escape", kind: "IAMRole", spec: grants(`"Action":"i\u0061m:*","Resource":"*"`), reason: "NotPermitted", says: []string{"spec.inlinePolicies[p]", "iam:*"}},
	{wants: "all actions but one", kind: "IAMRole", spec: grants(`"NotAction":"s3:PutObject","Resource":"*"`), reason: "NotPermitted", says: []string{"spec.inlinePolicies[p]", "NotAction"}},
	{wants: "a policy that is no JSON", kind: "IAMRole", spec: irsaBounded + `inlinePolicies: [{policyName: p, policyDocument: "{}}"}]`, reason: "InvalidSpec", says: []string{"spec.inlinePolicies[p]"}},
	{wants: "a role for another namespace's pods", kind: "IAMRole", spec: `irsa: {serviceAccount: admin, namespace: victim-dev}`, reason: "NotPermitted", says: []string{"spec.irsa.namespace", "NAMESPACE"}},
	{wants: "a role for the cluster's own pods", kind: "IAMRole", spec: `irsa: {serviceAccount: aws-node, namespace: kube-system}`, reason: "NotPermitted", says: []string{"spec.irsa.namespace"}},
	{wants: "a role for pods of another cluster", kind: "IAMRole", spec: `podIdentity: {clusterName: production, serviceAccount: app}`, reason: "NotPermitted", says: []string{"spec.podIdentity.clusterName", "--eks-cluster-name"}},
	{wants: "to give a role to the cluster's own pods", kind: "PodIdentityAssociation", spec: "namespace: kube-system", reason: "NotPermitted", says: []string{"spec.clusterName", "--eks-cluster-name"}},
	{wants: "both kinds of trust", kind: "IAMRole", spec: forApp + "\n" + trustGlue, refused: []string{"set assumeRolePolicyDocument, or one or both of irsa and podIdentity"}},
	{wants: "to move a role to another path", kind: "IAMRole", spec: absent + "\n" + forApp, edit: `{spec: {path: /aws-reserved/}}`, refused: []string{"path is immutable"}},
	{wants: "to rename a role", kind: "IAMRole", spec: absent + "\n" + forApp, edit: `{spec: {roleName: finance-admin}}`, refused: []string{"roleName is immutable"}},
}

// nobodys are the records by which a tenant claims what it never created.
const nobodys = `annotations: {nexus.ai/home: aws/123456789012/ap-southeast-1, nexus.ai/intent: '{"attempt":1,"at":"2001-01-01T00:00:00Z"}'}
finalizers: [aws-infra-operator.runner.codes/s3bucket-finalizer]`

var attacksOnOwnership = []attack{
	{wants: "a bucket of nobody", kind: "S3Bucket", spec: `bucketName: finance-reports`, reason: "Conflict", says: []string{"adoptionPolicy"}},
	{wants: "to adopt a bucket that the provider does not let be adopted", kind: "S3Bucket", spec: "bucketName: finance-reports\nadoptionPolicy: Always\ndeletionPolicy: Delete", reason: "Conflict", says: []string{"allowAdoption"}},
	{wants: "another namespace's bucket", kind: "S3Bucket", spec: "bucketName: victims-bucket\nadoptionPolicy: Always\ndeletionPolicy: Delete", reason: "Conflict", says: []string{"nexus.ai/owner=S3Bucket/victim-dev/victims-bucket"}},
	{wants: "to have another namespace's bucket emptied", kind: "S3Bucket", spec: "bucketName: victims-bucket\nforceDestroy: true", reason: "Conflict", says: []string{"victim"}},
	{wants: "another namespace's bucket by a forged label", kind: "S3Bucket", spec: `bucketName: victims-bucket`, meta: `labels: {nexus.ai/owner: victims-bucket, nexus.ai/managed-by: nexus-operator}`, reason: "Conflict", says: []string{"victim"}},
	{wants: "another namespace's bucket by a forged record", kind: "S3Bucket", spec: `bucketName: victims-bucket`, meta: nobodys, reason: "Conflict", says: []string{"victim"}},
	{wants: "another namespace's bucket by a forged owner", kind: "S3Bucket", spec: `bucketName: victims-bucket`, reason: "Conflict", says: []string{"victim"},
		meta: `ownerReferences: [{apiVersion: nexus.ai/v1, kind: NexusAICapability, name: owner, uid: OWNER, controller: true}]`},
	{wants: "another namespace's bucket by the label of its capability", kind: "S3Bucket", spec: `bucketName: victims-bucket`, meta: `labels: {nexus.ai/capability-uid: VICTIM, nexus.ai/capability: victim-dev}`,
		reason: "Conflict", says: []string{"victim"}},
	{wants: "another capability's role by the mark of an orphan", kind: "IAMRole", spec: "roleName: victim-dev-app-role\n" + forApp, reason: "Conflict", says: []string{"IAMRole/victim-dev/victim-dev-app-role"},
		meta: `annotations: {nexus.ai/orphaned-from: NexusAICapability/victim-dev/victim-dev, nexus.ai/owner-uid: VICTIM}`},
	{wants: "to have another namespace's bucket given up", kind: "S3Bucket", spec: `bucketName: victims-bucket`, meta: `annotations: {nexus.ai/abandon: VICTIM, nexus.ai/delete-data: call-data}`,
		reason: "Conflict", says: []string{"victim"}},
	{wants: "a table of nobody", kind: "DynamoDBTable", spec: "tableName: finance-ledger\nadoptionPolicy: Always\ndeletionPolicy: Delete", reason: "Conflict", says: []string{"allowAdoption"}},
	{wants: "a role of nobody", kind: "IAMRole", spec: "roleName: finance-admin\nadoptionPolicy: Always\ndeletionPolicy: Delete\n" + forApp, reason: "Conflict", says: []string{"allowAdoption"}},
	{wants: "a secret of nobody", kind: "SecretsManagerSecret", spec: "secretName: finance/db\nadoptionPolicy: Always\ndeletionPolicy: Delete", reason: "Conflict", says: []string{"allowAdoption"}},
	{wants: "another capability's role", kind: "IAMRole", spec: "roleName: victim-dev-app-role\n" + forApp, reason: "Conflict", says: []string{"IAMRole/victim-dev/victim-dev-app-role"}},
	{wants: "another capability's secret", kind: "SecretsManagerSecret", spec: `secretName: victim/dev/openai`, reason: "Conflict", says: []string{"SecretsManagerSecret/victim-dev/victim-dev-openai"}},
	{wants: "another capability's parameters", kind: "SSMParameterSet", spec: `{path: /victim/dev, parameters: {app/version: {value: mine}}}`, reason: "NameConflict", says: []string{"spec.path", "capability of another namespace"}},
	{wants: "to adopt without saying what its deletion does", kind: "S3Bucket", spec: "bucketName: finance-reports\nadoptionPolicy: Always", refused: []string{"deletionPolicy must be explicit"}},
	{wants: "an adoption policy that nobody knows", kind: "S3Bucket", spec: "adoptionPolicy: Force\ndeletionPolicy: Delete", refused: []string{"spec.adoptionPolicy"}},
	{wants: "a tag of AWS's", kind: "S3Bucket", spec: `tags: {"aws:cloudformation:stack-name": finance}`, refused: []string{"spec.tags", "aws:"}},
	{wants: "a tag of AWS's in other letters", kind: "IAMRole", spec: "tags: {\"AWS:x\": finance}\n" + forApp, refused: []string{"spec.tags", "aws:"}},
	{wants: "the tag that names the owner", kind: "DynamoDBTable", spec: `tags: {nexus.ai/owner: DynamoDBTable/victim/x}`, refused: []string{"spec.tags", "nexus.ai/"}},
	{wants: "the owner's tag in other letters", kind: "IAMRole", spec: "tags: {Nexus.AI/Owner: IAMRole/victim/x}\n" + forApp, refused: []string{"spec.tags", "nexus.ai/"}},
	{wants: "the parameter that names the owner of a Glue table", kind: "GlueTable", spec: `parameters: {nexus.ai/owner: GlueTable/victim/x}`, reason: "InvalidSpec", says: []string{"spec.parameters", "reserved"}},
	{wants: "the parameter that names the owner of a Glue database", kind: "GlueDatabase", spec: `parameters: {nexus.ai/owner-uid: x}`, reason: "InvalidSpec", says: []string{"spec.parameters", "reserved"}},
	{wants: "to turn a bucket into another", kind: "S3Bucket", spec: absent, edit: `{spec: {bucketName: finance-reports}}`, refused: []string{"bucketName is immutable"}},
	{wants: "to turn a table into another", kind: "DynamoDBTable", spec: absent, edit: `{spec: {tableName: finance-ledger}}`, refused: []string{"tableName is immutable"}},
	{wants: "to turn a secret into another", kind: "SecretsManagerSecret", spec: absent, edit: `{spec: {secretName: finance/db}}`, refused: []string{"secretName is immutable"}},
	{wants: "to turn a path into another", kind: "SSMParameterSet", spec: absent, edit: `{spec: {path: /finance}}`, refused: []string{"path is immutable"}},
	{wants: "to turn a Glue table's database into another", kind: "GlueTable", spec: absent, edit: `{spec: {databaseName: finance}}`, refused: []string{"databaseName is immutable"}},
	{wants: "to manage another queue later", kind: "SQSQueue", spec: absent, edit: `{spec: {queueName: finance-jobs}}`, refused: []string{"queueName is immutable"}},
	{wants: "to manage another topic later", kind: "SNSTopic", spec: absent, edit: `{spec: {topicName: finance-alarms}}`, refused: []string{"topicName is immutable"}},
	{wants: "to import a user pool later", kind: "CognitoUserPool", spec: absent, edit: `{spec: {importID: eu-west-1_AbCdEf123}}`, refused: []string{"importID is immutable"}},
	{wants: "to manage another repository later", kind: "ECRRepository", spec: absent, edit: `{spec: {repositoryName: finance}}`, refused: []string{"repositoryName is immutable"}},
	{wants: "to manage another zone later", kind: "Route53HostedZone", spec: absent, edit: `{spec: {name: finance.example.com}}`, refused: []string{"name is immutable"}},
	{wants: "to import a zone later", kind: "Route53HostedZone", spec: absent, edit: `{spec: {importID: Z1D633PJN98FT9}}`, refused: []string{"importID is immutable"}},
	{wants: "to manage another record later", kind: "Route53RecordSet", spec: absent, edit: `{spec: {name: finance.example.com}}`, refused: []string{"name is immutable"}},
	{wants: "a certificate for another name later", kind: "Certificate", spec: absent, edit: `{spec: {domainName: bank.example.com}}`, refused: []string{"domainName is immutable"}},
	{wants: "an association for other pods later", kind: "PodIdentityAssociation", spec: absent, edit: `{spec: {serviceAccount: admin}}`, refused: []string{"serviceAccount is immutable"}},
	{wants: "to import a key later", kind: "KMSKey", spec: absent, edit: `{spec: {importID: 1234abcd-12ab-34cd-56ef-1234567890ab}}`, refused: []string{"importID is immutable"}},
	{wants: "to import another VPC later", kind: "VPC", spec: absent, edit: `{spec: {importID: vpc-0123456789abcdef0}}`, refused: []string{"importID is immutable"}},
	{wants: "a bucket policy that is no JSON", kind: "S3Bucket", spec: `policy: '{"Version":'`, reason: "InvalidSpec", says: []string{"spec.policy"}},
}
