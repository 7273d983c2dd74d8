// SPDX-License-Identifier: Apache-2.0

// Package permissions derives the IAM policies that the operator and its installer need. The operator's actions are those
// that the kinds declare; each is limited to the resources and conditions that AWS evaluates for it:
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
package permissions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Scope limits a policy.
type Scope struct {
	// Partition, Region and Account are parts of ARNs. An empty Partition is aws; an empty Region or Account is any.
	Partition, Region, Account string
	// NamePrefix begins the names of all AWS resources that the operator may touch; empty is any name.
	NamePrefix string
	// RolePath is the path of all roles, such as /teams/; empty is /.
	RolePath string
	// Boundary is the ARN of the permissions boundary that roles must have before the operator may give them permissions.
	Boundary string
	// AssumeRoles are the ARNs of the roles that AWSProviders name.
	AssumeRoles []string
	// Adopt allows the operator to put its tags on resources that it did not make.
	Adopt bool
	// Types are names and patterns of the resource types that objects of the kind AWSResource may manage.
	Types []string
	// TypedTypes are the kinds that manage resources of one type, by the name of the type, which patterns do not allow.
	TypedTypes map[string]string
	// EKSCluster is the name of the cluster that is asked for its OIDC issuer.
	EKSCluster string
	// DriftQueue is the name of the queue with CloudTrail's events of changes that the operator reads; empty for none.
	DriftQueue string
	// Repository is the name of the image repository, Role that of the operator's own role, and ControllerRole that of the AWS Load
	// Balancer Controller's. Only the installer needs them.
	Repository, Role, ControllerRole string
}

// managedBy is the tag that every resource of the operator carries.
const managedBy, operatorName = wellknown.TagManagedBy, wellknown.OperatorName

// passRole is needed by the actions that hand a role to a service; no call has its name.
const passRole = "iam:PassRole"

// passes lists the actions that need passRole, and the service that gets the role.
var passes = map[string]string{
	"glue:CreateCrawler": "glue.amazonaws.com", "glue:UpdateCrawler": "glue.amazonaws.com",
	"ec2:RunInstances": ec2Service, "ec2:AssociateIamInstanceProfile": ec2Service, "ec2:ReplaceIamInstanceProfileAssociation": ec2Service,
	"s3:PutReplicationConfiguration": "s3.amazonaws.com", "iam:AddRoleToInstanceProfile": ec2Service,
	"lambda:CreateFunction": "lambda.amazonaws.com", "lambda:UpdateFunctionConfiguration": "lambda.amazonaws.com",
	"eks:CreatePodIdentityAssociation": kind.PodIdentityService, "eks:UpdatePodIdentityAssociation": kind.PodIdentityService,
	"eks:CreateCluster": eksService,
	// the role that sends text messages, repeated as found
	"cognito-idp:UpdateUserPool": cognitoService, "cognito-idp:SetUserPoolMfaConfig": cognitoService,
	"sns:Subscribe": snsService, "sns:SetSubscriptionAttributes": snsService, // the role of a stream's subscription
}

// cognitoService sends text messages to users, snsService delivers messages of topics, eksService runs clusters of EKS, and ec2Service
// instances.
const cognitoService, snsService, eksService, ec2Service = "cognito-idp.amazonaws.com", "sns.amazonaws.com", "eks.amazonaws.com",
	"ec2.amazonaws.com"

// passedTo returns the condition that a role is given to a service. In China, EC2 has a name of the partition; others have not.
// https://docs.amazonaws.cn/en_us/aws/latest/userguide/iam.html
func (s Scope) passedTo(service string) iampolicy.Conditions {
	if service == ec2Service && s.partition() == "aws-cn" {
		service += ".cn"
	}
	return stringEquals("iam:PassedToService", service)
}

// uses are the actions that need rights to other actions; see usable. No call of the operator has those names.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html
// https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
var uses = map[string][]string{
	"route53:CreateHostedZone": {"ec2:DescribeVpcs"}, "route53:AssociateVPCWithHostedZone": {"ec2:DescribeVpcs"}, // a private zone
	"secretsmanager:RotateSecret": {"lambda:InvokeFunction"},
	"lambda:GetFunction":          {"lambda:ListTags"},
	"lambda:CreateFunction": {"ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs", "ecr:BatchGetImage",
		"ecr:GetDownloadUrlForLayer", "ecr:GetRepositoryPolicy", "ecr:SetRepositoryPolicy", "lambda:GetLayerVersion"},
	"eks:CreateCluster":              {"ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs", serviceLinkedRole},
	"elasticache:CreateCacheCluster": networkOfCaches, "elasticache:DeleteCacheCluster": networkOfCaches,
	"kms:CreateKey":              {serviceLinkedRole}, // a multi-Region key
	"s3:CreateBucket":            {"s3:TagResource"},  // tags in the request
	"cognito-idp:CreateUserPool": {poolTags},
	"s3:DeleteObjectVersion":     {"s3:DeleteObject"}, // DeleteObjects asks for it with versions as well
	// The final snapshot, and its tags where the instance copies them.
	"rds:DeleteDBInstance": {"rds:CreateDBSnapshot", "rds:AddTagsToResource"},
	// The secret with the password that RDS manages, which RDS makes with the rights of the caller.
	"rds:CreateDBInstance": managedPassword, "rds:ModifyDBInstance": managedPassword,
}

var networkOfCaches = []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:DescribeVpcs"}

var managedPassword = []string{"secretsmanager:CreateSecret", "secretsmanager:TagResource", "secretsmanager:RotateSecret"}

// rolesOfServices are the services that have a separate role, by that of the action which makes it.
// https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-auth.html
var rolesOfServices = map[string]string{"eks": eksService, "kms": "mrk.kms.amazonaws.com"}

// poolTags is asked for at the create of a pool with tags, without an ARN.
const poolTags = "cognito-idp:TagResource"

// serviceLinkedRole is the right to create the role that a service has for itself, with the first of its resources in the account.
const serviceLinkedRole = "iam:CreateServiceLinkedRole"

// usable returns the resources for an action of uses, which the caller of another action needs. AWS evaluates no resource for actions that
// read networks. The functions that rotate secrets are those of AWS, which have names with a fixed prefix, and images are in the operator's
// own repositories. An administrator allows others, and the archives in S3 for functions: the operator reads no objects of other buckets.
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_available-rotation-templates.html
func (s Scope) usable(by, action string) target {
	caller, _, _ := strings.Cut(by, ":")
	service, operation, _ := strings.Cut(action, ":")
	switch {
	case service == "s3":
		return s.s3(operation)
	case action == poolTags:
		return target{everywhere, given}
	case action == "rds:CreateDBSnapshot":
		return target{resources: s.arns("rds", "db:"+s.NamePrefix+"*", "snapshot:*")}
	case service == "rds":
		return target{resources: s.arns("rds", "snapshot:*")}
	case service == "secretsmanager":
		return target{resources: s.arns("secretsmanager", "secret:rds!db-*")}
	case action == "lambda:InvokeFunction":
		return target{resources: s.arns("lambda", "function:SecretsManager*")}
	case action == serviceLinkedRole:
		owner := rolesOfServices[caller]
		return target{[]string{s.inIAM("role/aws-service-role/" + owner + "/*")}, stringEquals("iam:AWSServiceName", owner)}
	case action == "lambda:GetLayerVersion": // also of other accounts
		return target{resources: []string{"arn:" + s.partition() + ":lambda:*:*:layer:*"}}
	case action == "lambda:ListTags" || service == "ecr":
		return target{resources: s.arns(service, limitedByName[service]+s.NamePrefix+"*")}
	default:
		return target{resources: everywhere}
	}
}

// encrypts lists the calls that make a service use a KMS key on behalf of the caller, with the rights to the key that this takes. No call
// of the operator has the names of these rights.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
// https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html
// https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Overview.Encryption.Keys.html
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars-encryption.html
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/encryption-at-rest.html
// https://docs.aws.amazon.com/systems-manager/latest/userguide/secure-string-parameter-kms-encryption.html
var encrypts = map[string][]string{
	"dynamodb:CreateTable": useOfTables, "dynamodb:UpdateTable": useOfTables,
	"secretsmanager:CreateSecret": useOfSecrets, "secretsmanager:PutSecretValue": useOfSecrets, "secretsmanager:UpdateSecret": useOfSecrets,
	"eks:CreateCluster": {"kms:CreateGrant", "kms:DescribeKey"},
	"ec2:RunInstances": {"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom",
		"kms:ReEncryptTo"},
	"rds:CreateDBInstance": useOfDatabases, "rds:ModifyDBInstance": useOfDatabases,
	"lambda:CreateFunction": useOfFunctions, "lambda:UpdateFunctionConfiguration": useOfFunctions, "lambda:GetFunction": {"kms:Decrypt"},
	"ecr:CreateRepository": {"kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"},
	// GenerateDataKey of advanced parameters
	"ssm:PutParameter": {"kms:Encrypt", "kms:GenerateDataKey"}, "ssm:GetParameters": {"kms:Decrypt"},
}

var (
	useOfTables = []string{"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom",
		"kms:ReEncryptTo"}
	// Without the right to encrypt, UpdateSecret with another key succeeds and leaves the versions under the former one.
	useOfSecrets   = []string{"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"}
	useOfDatabases = []string{"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey"}
	useOfFunctions = []string{"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"}
)

// ownKeys are the keys of the operator in the hands of a service. The key policy of another key can allow its use.
func (s Scope) ownKeys(service string) target {
	return target{s.arns("kms", "key/*"), iampolicy.Conditions{
		"StringEquals": {"aws:ResourceTag/" + managedBy: {operatorName}},
		"StringLike":   {"kms:ViaService": {service + "." + cmp.Or(s.Region, "*") + "." + wellknown.DNSSuffix(s.partition())}},
	}}
}

// passable returns the roles that may be given to a service. No spec names one for Cognito: updates repeat the role that
//
//	others set, which may be any.
func (s Scope) passable(service string) []string {
	if service == cognitoService {
		return []string{s.inIAM("role/*")}
	}
	return s.roles()
}

// Operator returns the policies of the operator's role: the actions of all kinds, and those that the scope asks for. The notices name the
// rights to resources of the allowed types that are not limited, or left out.
func Operator(metas []kind.Meta, scope Scope) (documents []iampolicy.Document, notices []string, err error) {
	g, err := ofKinds(metas, scope)
	if err != nil {
		return nil, nil, err
	}
	if scope.DriftQueue != "" {
		g.allow(target{resources: scope.arns("sqs", scope.DriftQueue)}, queueReads...)
	}
	typed, notices, err := scope.ofTypes(metas)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range typed {
		g.allow(target{s.Resource, s.Condition}, s.Action...)
	}
	documents, err = g.documents()
	if len(documents) > maxPoliciesOfRole {
		notices = append(notices,
			fmt.Sprintf("these are %d policies, of which AWS attaches %d to a role unless its quota is raised: name fewer --types, or use several AWSProviders with a role each",
				len(documents), maxPoliciesOfRole))
	}
	return documents, notices, err
}

// ofKinds returns the actions of all kinds, and those that the scope asks for.
func ofKinds(metas []kind.Meta, scope Scope) (grants, error) {
	g, all := grants{}, actionsOf(metas)
	for _, action := range all {
		targets, err := scope.targets(action, all)
		if err != nil {
			return nil, err
		}
		for _, where := range targets {
			g.add(action, where)
		}
		if parents := scope.ec2Parents(action); parents != nil {
			g.add(action, target{resources: parents})
		}
		for _, used := range uses[action] {
			g.add(used, scope.usable(action, used))
		}
		if used := encrypts[action]; used != nil {
			service, _, _ := strings.Cut(action, ":")
			g.allow(scope.ownKeys(service), used...)
		}
		if service := passes[action]; service != "" {
			g.add(passRole, target{scope.passable(service), scope.passedTo(service)})
		}
	}
	if len(scope.AssumeRoles) > 0 {
		g.add("sts:AssumeRole", target{resources: scope.AssumeRoles})
	}
	if scope.EKSCluster != "" {
		g.add("eks:DescribeCluster", target{resources: scope.arns("eks", "cluster/"+scope.EKSCluster)})
	}
	return g, nil
}

// actionsOf returns the actions that the kinds declare, each once, in order.
func actionsOf(metas []kind.Meta) []string {
	all := map[string]bool{}
	for _, m := range metas {
		for _, action := range slices.Concat(m.Reads, m.Writes, m.Optional, m.Judges) {
			all[action] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// targets returns where an action is needed, among all those of the policy.
func (s Scope) targets(action string, all []string) ([]target, error) {
	if special := append(s.tagging(action, all), s.aliases(action)...); len(special) > 0 {
		return special, nil
	}
	where, err := s.of(action)
	return []target{where}, err
}

// of returns where an action is needed. An action of a service that is not known here is an error, so that no one adds a kind with rights
// to everything.
func (s Scope) of(action string) (target, error) {
	service, operation, _ := strings.Cut(action, ":")
	if before, named := limitedByName[service]; named {
		return target{resources: s.arns(service, before+s.NamePrefix+"*")}, nil
	}
	limit, known := limits[service]
	if !known {
		return target{}, fmt.Errorf("%s: the resources of service %s are not known", action, service)
	}
	return limit(s, operation), nil
}

// limits are the services with a limit for each action. Read only.
var limits = map[string]func(s Scope, operation string) target{
	"s3": Scope.s3, "iam": Scope.iam, "acm": Scope.acm, "kms": Scope.kms, "cognito-idp": Scope.cognito, "sns": Scope.sns, "glue": Scope.glue,
	"ssm": Scope.ssm, "ec2": Scope.ec2, "ecs": Scope.ecs, "eks": Scope.eks, "elasticache": Scope.elasticache, "rds": Scope.rds,
	"logs": logGroups, "route53": Scope.route53,
	"cloudformation":       everyResource, // of Cloud Control API; AWS evaluates the calls of a handler for their services
	"tag":                  everyResource, // of every service
	"elasticloadbalancing": everyResource,
}

// everyResource is for services if AWS evaluates no resource for the actions that the operator takes.
func everyResource(Scope, string) target { return target{resources: everywhere} }

// limitedByName are the services that limit all actions by the name of one type of resource, with the prefix of the name in the ARN. Read
// only.
var limitedByName = map[string]string{"dynamodb": "table/", "ecr": "repository/", "lambda": "function:", "secretsmanager": "secret:",
	"sqs": ""}

// everywhere is for actions that AWS evaluates for no resource.
var everywhere = []string{"*"}

func (s Scope) partition() string { return cmp.Or(s.Partition, "aws") }

// arns returns ARNs of a regional service.
func (s Scope) arns(service string, resources ...string) []string {
	var out []string
	for _, r := range resources {
		out = append(out, fmt.Sprintf("arn:%s:%s:%s:%s:%s", s.partition(), service, cmp.Or(s.Region, "*"), cmp.Or(s.Account, "*"), r))
	}
	return out
}

func (s Scope) roles() []string { return s.named("role") }

// named returns the resources of a type in IAM that are limited by path and name, as roles are.
func (s Scope) named(resource string) []string {
	path := strings.Trim(s.RolePath, "/")
	if path != "" {
		path += "/"
	}
	return []string{s.inIAM(resource + "/" + path + s.NamePrefix + "*")}
}

// inIAM returns the ARN of a resource of IAM, which has no regions.
func (s Scope) inIAM(resource string) string {
	return fmt.Sprintf("arn:%s:iam::%s:%s", s.partition(), cmp.Or(s.Account, "*"), resource)
}

func (s Scope) s3(operation string) target {
	bucket := "arn:" + s.partition() + ":s3:::" + s.NamePrefix + "*"
	switch {
	case operation == "ListAllMyBuckets":
		return target{resources: everywhere}
	case strings.Contains(operation, "Object") && !strings.Contains(operation, "Bucket"): // such as PutBucketObjectLockConfiguration
		return target{resources: []string{bucket + "/*"}}
	default:
		return target{resources: []string{bucket}}
	}
}

// grantsPermissions are the actions that AWS evaluates with the boundary of the role.
var grantsPermissions = []string{"CreateRole", "PutRolePermissionsBoundary", "PutRolePolicy", "DeleteRolePolicy", "AttachRolePolicy",
	"DetachRolePolicy"}

func (s Scope) iam(operation string) target {
	switch {
	case strings.HasSuffix(operation, "OpenIDConnectProvider"):
		return target{resources: []string{s.inIAM("oidc-provider/*")}}
	case operation == "GetInstanceProfile": // also that of an instance
		return target{resources: []string{s.inIAM("instance-profile/*")}}
	case strings.HasSuffix(operation, "InstanceProfile"):
		return target{resources: s.named("instance-profile")}
	case s.Boundary != "" && slices.Contains(grantsPermissions, operation):
		return target{s.roles(), stringEquals("iam:PermissionsBoundary", s.Boundary)}
	default:
		return target{resources: s.roles()}
	}
}

// glue limits databases, tables and crawlers by name. AWS evaluates the parents of a resource, and the resources that are deleted with it.
// Names of databases that a capability makes have underscores for hyphens.
func (s Scope) glue(operation string) target {
	if operation == "CreateCrawler" {
		return target{everywhere, given}
	}
	if strings.Contains(operation, "Crawler") {
		return target{resources: s.arns("glue", "crawler/"+s.NamePrefix+"*")}
	}
	resources := []string{"catalog"}
	for _, prefix := range s.catalogPrefixes() {
		resources = append(resources, "database/"+prefix+"*")
		if strings.Contains(operation, "Table") || operation == "DeleteDatabase" {
			resources = append(resources, "table/"+prefix+"*/*")
		}
		if operation == "DeleteDatabase" {
			resources = append(resources, "userDefinedFunction/"+prefix+"*/*")
		}
	}
	return target{resources: s.arns("glue", resources...)}
}

// catalogPrefixes are the beginnings of the names of databases.
func (s Scope) catalogPrefixes() []string {
	return slices.Compact([]string{s.NamePrefix, strings.ReplaceAll(s.NamePrefix, "-", "_")})
}

func (s Scope) ssm(operation string) target {
	switch operation {
	case "DescribeParameters":
		return target{resources: everywhere}
	case "GetServiceSetting":
		return target{resources: s.arns("ssm", "servicesetting/ssm/parameter-store/*")}
	default:
		return target{resources: s.arns("ssm", "parameter/"+s.NamePrefix+"*")}
	}
}

// kms limits by tags, because AWS chooses the identifiers.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awskeymanagementservice.html
func (s Scope) kms(operation string) target {
	keys := s.arns("kms", "key/*")
	switch operation {
	case "ListAliases":
		return target{resources: everywhere}
	case "CreateKey":
		return target{everywhere, given}
	case "DescribeKey", "ListResourceTags":
		return target{resources: keys}
	default:
		return s.readToAdopt(operation, keys)
	}
}

// acm limits by tags, because AWS chooses the identifiers.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awscertificatemanager.html
func (s Scope) acm(operation string) target {
	certificates := s.arns("acm", "certificate/*")
	switch operation {
	case "RequestCertificate":
		return target{everywhere, given}
	case "DescribeCertificate", "ListTagsForCertificate":
		return target{resources: certificates}
	default:
		return target{certificates, ours}
	}
}

// ecs limits by the name of the cluster. AWS evaluates no resource for a create.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticcontainerservice.html
func (s Scope) ecs(operation string) target {
	if operation == "CreateCluster" {
		return target{everywhere, given}
	}
	if operation == "DescribeCapacityProviders" { // theirs are not limited by the names of clusters
		return target{resources: s.arns("ecs", "capacity-provider/*")}
	}
	return target{resources: s.arns("ecs", "cluster/"+s.NamePrefix+"*")}
}

// ownCluster is the name of the operator's cluster, or a pattern.
func (s Scope) ownCluster() string { return cmp.Or(s.EKSCluster, "*") }

// eks limits by the name of the cluster; AWS evaluates no resource for the create of one. Associations are made in the operator's
// own cluster. EKS chooses their identifiers.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html
func (s Scope) eks(operation string) target {
	cluster := s.ownCluster()
	associations, clusters := s.arns("eks", "podidentityassociation/"+cluster+"/*"), s.arns("eks", "cluster/"+s.NamePrefix+"*")
	switch operation {
	case "CreateCluster":
		return target{everywhere, given}
	case "DescribeCluster", "UpdateClusterConfig", "UpdateClusterVersion", "DeleteCluster", "ListNodegroups", "ListFargateProfiles",
		"ListCapabilities", "ListUpdates", "DescribeUpdate",
		"CreateAccessEntry", "ListAccessEntries":
		return target{resources: clusters}
	case "DescribeAccessEntry", "UpdateAccessEntry", "DeleteAccessEntry", "ListAssociatedAccessPolicies", "AssociateAccessPolicy",
		"DisassociateAccessPolicy":
		return target{resources: s.arns("eks", "access-entry/"+s.NamePrefix+"*")}
	case "CreatePodIdentityAssociation":
		return target{s.arns("eks", "cluster/"+cluster), given}
	case "ListPodIdentityAssociations":
		return target{resources: s.arns("eks", "cluster/"+cluster)}
	case "DescribePodIdentityAssociation":
		return target{resources: associations}
	default:
		return target{associations, ours}
	}
}

// cognito limits by tags, because AWS chooses the identifiers. Any pool of the name is described to find the one that an answer was lost
// of. No resource is evaluated for the lists of pools and the descriptions of domains.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncognitouserpools.html
func (s Scope) cognito(operation string) target {
	pools := s.arns("cognito-idp", "userpool/*")
	switch operation {
	case "ListUserPools", "DescribeUserPoolDomain":
		return target{resources: everywhere}
	case "CreateUserPool":
		return target{everywhere, given}
	case "DescribeUserPool":
		return target{resources: pools}
	default:
		return s.readToAdopt(operation, pools)
	}
}

// readToAdopt limits an action to resources with the operator's tag. An adoption compares the whole resource with the object before
// the first write, which is the one that tags it, so that with Adopt the reads are allowed of all resources of the type.
func (s Scope) readToAdopt(operation string, resources []string) target {
	if s.Adopt && (strings.HasPrefix(operation, "Get") || strings.HasPrefix(operation, "List") || strings.HasPrefix(operation, "Describe")) {
		return target{resources: resources}
	}
	return target{resources, ours}
}

// sns limits by the name of the topic, except for the actions on a subscription, because AWS evaluates no resource for them.
func (s Scope) sns(operation string) target {
	if operation == "Unsubscribe" || strings.HasSuffix(operation, "SubscriptionAttributes") {
		return target{resources: everywhere}
	}
	return target{resources: s.arns("sns", s.NamePrefix+"*")}
}

// rds limits by the names of DB instances and DB subnet groups. An instance is placed in any subnet group and has any option group
// or parameter group that an object names, and its final snapshot has any name.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonrds.html
func (s Scope) rds(operation string) target {
	instances, groups := "db:"+s.NamePrefix+"*", "subgrp:"+s.NamePrefix+"*"
	if strings.Contains(operation, "SubnetGroup") {
		return target{resources: s.arns("rds", groups)}
	}
	switch operation {
	case "DescribeDBInstances": // also lists the users of a subnet group
		return target{resources: s.arns("rds", "db:*")}
	case "DeleteDBInstance":
		return target{resources: s.arns("rds", instances, "snapshot:*")}
	case "DescribeDBSnapshots": // by the name of a final snapshot
		return target{resources: s.arns("rds", "snapshot:*")}
	case "ModifyDBInstance":
		return target{resources: s.arns("rds", instances, "pg:*")}
	default:
		return target{resources: s.arns("rds", instances, "subgrp:*", "og:*", "pg:*")}
	}
}

// elasticache limits by the names of cache clusters. A cluster is placed in any subnet group, and has any parameter group, that an
// object names, and its final snapshot has any name.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticache.html
func (s Scope) elasticache(operation string) target {
	clusters := "cluster:" + s.NamePrefix + "*"
	switch operation {
	case "CreateCacheCluster":
		return target{resources: s.arns("elasticache", clusters, "parametergroup:*", "subnetgroup:*")}
	case "ModifyCacheCluster":
		return target{resources: s.arns("elasticache", clusters, "parametergroup:*")}
	case "DeleteCacheCluster":
		return target{resources: s.arns("elasticache", clusters, "snapshot:*")}
	case "DescribeSnapshots": // by the name of a final snapshot
		return target{resources: s.arns("elasticache", "snapshot:*")}
	default:
		return target{resources: s.arns("elasticache", clusters)}
	}
}

// logGroups limits by name, except for the descriptions of log groups. Most actions take the ARN with ":*" at its end, which the star
// allows.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html
func logGroups(s Scope, operation string) target {
	if operation == "DescribeLogGroups" {
		return target{resources: everywhere}
	}
	return target{resources: s.arns("logs", "log-group:"+s.NamePrefix+"*")}
}

// route53 limits by type: AWS chooses the identifiers, and knows no condition on the tags of a hosted zone.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonroute53.html
func (s Scope) route53(operation string) target {
	resources := "arn:" + s.partition() + ":route53:::"
	switch operation {
	case "CreateHostedZone", "ListHostedZonesByName":
		return target{resources: everywhere}
	case "AssociateVPCWithHostedZone", "DisassociateVPCFromHostedZone":
		return target{resources: []string{resources + "hostedzone/*",
			fmt.Sprintf("arn:%s:ec2:*:%s:vpc/*", s.partition(), cmp.Or(s.Account, "*"))}}
	case "GetChange":
		return target{resources: []string{resources + "change/*"}}
	default:
		return target{resources: []string{resources + "hostedzone/*"}}
	}
}
