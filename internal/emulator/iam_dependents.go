// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"slices"
	"strings"
)

// dependent decides when a request for an action takes another one, too.
type dependent struct {
	action, needs string
	// with is the member of the request with which it does; with a value behind =, if the member has that. "tags" are tags. Empty is
	// always.
	with string
	// never says why it does not, although the reference lists the action.
	never string
	// at are the types of the resources that the other action is evaluated for.
	at []string
	// on returns the demands where types do not say enough.
	on func(q *asker) []demand
	// page says where the need is documented or was seen, where the reference does not list it.
	page string
}

const (
	withTags     = "tags"
	noTenants    = "only for multi-tenant Oracle, for which there is no field"
	noRoles      = "only for a monitoring or domain role, for which there is no field"
	noDeliveries = "only for roles that log deliveries, for which there is no field"
	bySLR        = "the service's own role does it"
	noRuleTags   = "only with tags of rules, which the operator does not give"
	tagsAtCreate = "https://docs.aws.amazon.com/IAM/latest/UserGuide/access_tags.html: AWS asks for the right to tag when a create has tags"
	usersOfKeys  = "the service uses the key with the rights of the caller; the guide of each service lists the actions"
)

// dependents are the decisions on the dependent actions of the reference, and on needs that it lacks.
var dependents = slices.Concat(taggingDependents, networkDependents, databaseDependents, roleDependents, keyDependents, otherDependents)

// tagging returns what a create with tags takes, beyond the reference.
func tagging(action, needs string, at ...string) dependent {
	return dependent{action: action, needs: needs, with: withTags, at: at, page: tagsAtCreate}
}

var taggingDependents = []dependent{
	tagging("acm:RequestCertificate", "acm:AddTagsToCertificate", "acm certificate/*"),
	// Seen as "not authorized to perform: cognito-idp:TagResource on resource: *".
	tagging("cognito-idp:CreateUserPool", "cognito-idp:TagResource"),
	tagging("dynamodb:CreateTable", "dynamodb:TagResource", "dynamodb table/*"),
	{action: "ecr:CreateRepository", needs: "ecr:TagResource", with: withTags, at: []string{"ecr repository/*"}},
	tagging("ecs:CreateCluster", "ecs:TagResource", "ecs cluster/*"),
	tagging("eks:CreateCluster", "eks:TagResource", "eks cluster/*"),
	tagging("eks:CreatePodIdentityAssociation", "eks:TagResource", "eks podidentityassociation/*/*"),
	{action: "elasticache:CreateCacheCluster", needs: "elasticache:AddTagsToResource", with: withTags, at: []string{"elasticache cluster:*"}},
	tagging("events:PutRule", "events:TagResource", "events rule/*"),
	tagging("glue:CreateCrawler", "glue:TagResource", "glue crawler/*"),
	tagging("glue:CreateDatabase", "glue:TagResource", "glue database/*"),
	tagging("iam:CreateOpenIDConnectProvider", "iam:TagOpenIDConnectProvider", "iam oidc-provider/*"),
	tagging("iam:CreatePolicy", "iam:TagPolicy", "iam policy/*"),
	tagging("iam:CreateInstanceProfile", "iam:TagInstanceProfile", "iam instance-profile/*"),
	tagging("iam:CreateRole", "iam:TagRole", "iam role/*"),
	// The reference lists it; the guide says "a policy that isn't restricted to particular KMS keys".
	{action: "kms:CreateKey", needs: "kms:TagResource", with: withTags},
	tagging("lambda:CreateFunction", "lambda:TagResource", "lambda function:*"),
	{action: "rds:CreateDBInstance", needs: "rds:AddTagsToResource", with: withTags, at: []string{"rds db:*"}},
	{action: "rds:CreateDBSubnetGroup", needs: "rds:AddTagsToResource", with: withTags, at: []string{"rds subgrp:*"}},
	{action: "rds:ModifyDBInstance", needs: "rds:AddTagsToResource", never: "the request has no tags"},
	tagging("s3:CreateBucket", "s3:TagResource", "s3 *"),
	tagging("secretsmanager:CreateSecret", "secretsmanager:TagResource", "secretsmanager secret:*"),
	tagging("sns:CreateTopic", "sns:TagResource", "sns *"),
	tagging("sqs:CreateQueue", "sqs:TagQueue", "sqs *"),
	tagging("ssm:PutParameter", "ssm:AddTagsToResource", "ssm parameter/*"),
}

// specified are the tags of EC2, which a create gives by type.
func specified(action string) dependent {
	return dependent{action: action, needs: "ec2:CreateTags", with: withTags, on: (*asker).tagSpecifications}
}

var networkDependents = []dependent{
	specified("ec2:AllocateAddress"), specified("ec2:CreateInternetGateway"), specified("ec2:CreateNatGateway"), specified("ec2:CreateRouteTable"),
	specified("ec2:CreateSecurityGroup"), specified("ec2:CreateSubnet"), specified("ec2:CreateVpc"), specified("ec2:ImportKeyPair"), specified("ec2:RunInstances"),
	{action: "ec2:AuthorizeSecurityGroupEgress", needs: "ec2:CreateTags", never: noRuleTags},
	{action: "ec2:AuthorizeSecurityGroupIngress", needs: "ec2:CreateTags", never: noRuleTags},
	{action: "ec2:RunInstances", needs: "ssm:GetParameters", never: "only for an image by the name of a parameter, which the field refuses"},
	{action: "ec2:RunInstances", needs: "ec2:RunInstances", at: []string{"ec2 volume/*"}, page: "the root volume is made with each instance"},
	{action: "elasticache:CreateCacheCluster", needs: "ec2:CreateNetworkInterface", never: bySLR},
	{action: "elasticache:CreateCacheCluster", needs: "ec2:DeleteNetworkInterface", never: bySLR},
	{action: "elasticache:CreateCacheCluster", needs: "ec2:DescribeNetworkInterfaces"},
	{action: "elasticache:CreateCacheCluster", needs: "ec2:DescribeSubnets"},
	{action: "elasticache:CreateCacheCluster", needs: "ec2:DescribeVpcs"},
	{action: "elasticache:CreateCacheCluster", needs: "s3:GetObject", never: "only from a snapshot file, for which there is no field"},
	{action: "elasticache:DeleteCacheCluster", needs: "ec2:CreateNetworkInterface", never: bySLR},
	{action: "elasticache:DeleteCacheCluster", needs: "ec2:DeleteNetworkInterface", never: bySLR},
	{action: "elasticache:DeleteCacheCluster", needs: "ec2:DescribeNetworkInterfaces"},
	{action: "elasticache:DeleteCacheCluster", needs: "ec2:DescribeSubnets"},
	{action: "elasticache:DeleteCacheCluster", needs: "ec2:DescribeVpcs"},
	{action: "route53:CreateHostedZone", needs: "ec2:DescribeVpcs", with: "<VPC>"},
	{action: "route53:AssociateVPCWithHostedZone", needs: "ec2:DescribeVpcs"},
	{action: "route53:DisassociateVPCFromHostedZone", needs: "ec2:DescribeVpcs"},
	{action: "lambda:CreateFunction", needs: "ec2:DescribeSecurityGroups", with: "VpcConfig", page: lambdaRights},
	{action: "lambda:CreateFunction", needs: "ec2:DescribeSubnets", with: "VpcConfig", page: lambdaRights},
	{action: "lambda:CreateFunction", needs: "ec2:DescribeVpcs", with: "VpcConfig", page: lambdaRights},
	{action: "eks:CreateCluster", needs: "ec2:DescribeSecurityGroups", page: eksRights},
	{action: "eks:CreateCluster", needs: "ec2:DescribeSubnets", page: eksRights},
	{action: "eks:CreateCluster", needs: "ec2:DescribeVpcs", page: eksRights},
}

const (
	lambdaRights = "https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html"
	imageRights  = "https://docs.aws.amazon.com/lambda/latest/dg/images-create.html#gettingstarted-images-permissions"
	eksRights    = "https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html"
)

// managed is a right to the secret with the password that RDS manages.
func managed(action, needs string) dependent {
	return dependent{action: action, needs: needs, with: "ManageMasterUserPassword=true", on: func(q *asker) []demand {
		return []demand{q.need(needs, "arn:"+q.partition()+":secretsmanager:"+q.x.region+":"+q.account()+":secret:rds!db-new", nil)}
	}}
}

// defaultsOf are the groups that a DB instance gets where the request names none. RDS evaluates them, too.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/security_iam_id-based-policy-examples.html
func defaultsOf(field, at string) dependent {
	return dependent{action: "rds:CreateDBInstance", needs: "rds:CreateDBInstance", with: "!" + field, at: []string{at}, page: "the guide allows the default groups beside the instance"}
}

var databaseDependents = []dependent{
	managed("rds:CreateDBInstance", "secretsmanager:CreateSecret"), managed("rds:CreateDBInstance", "secretsmanager:TagResource"),
	managed("rds:ModifyDBInstance", "secretsmanager:CreateSecret"), managed("rds:ModifyDBInstance", "secretsmanager:TagResource"),
	managed("rds:ModifyDBInstance", "secretsmanager:RotateSecret"),
	defaultsOf("OptionGroupName", "rds og:*"), defaultsOf("DBParameterGroupName", "rds pg:*"), defaultsOf("DBSubnetGroupName", "rds subgrp:*"),
	{action: "rds:CreateDBInstance", needs: "rds:CreateTenantDatabase", never: noTenants},
	{action: "rds:ModifyDBInstance", needs: "rds:CreateTenantDatabase", never: noTenants},
	{action: "rds:DeleteDBInstance", needs: "rds:DeleteTenantDatabase", never: noTenants},
	{action: "rds:DeleteDBInstance", needs: "rds:CreateDBSnapshot", with: "FinalDBSnapshotIdentifier", at: []string{"rds db:*", "rds snapshot:*"}},
	{action: "rds:DeleteDBInstance", needs: "rds:DeleteDBInstance", with: "FinalDBSnapshotIdentifier", at: []string{"rds snapshot:*"}, page: "seen in refusals"},
	{action: "rds:DeleteDBInstance", needs: "rds:AddTagsToResource", with: "FinalDBSnapshotIdentifier", at: []string{"rds snapshot:*"}},
	{action: "rds:CreateDBSnapshot", needs: "rds:AddTagsToResource", never: "the operator makes snapshots by deletions alone"},
}

// hands is the right to give a role, which a member names, to a service.
func hands(action, with, service string) dependent {
	return dependent{action: action, needs: "iam:PassRole", with: with, on: func(q *asker) []demand {
		var out []demand
		for _, role := range q.values(with) {
			if strings.HasPrefix(with, "IamInstanceProfile.") {
				role = q.roleOfProfile(role)
			}
			out = append(out, q.passes(q.roleARN(role), service))
		}
		return out
	}, page: "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html"}
}

// handsSubscription is the right to give SNS the role of a subscription, which a request has among attributes.
func handsSubscription(action string) dependent {
	return dependent{action: action, needs: "iam:PassRole", page: "https://docs.aws.amazon.com/sns/latest/dg/firehose-endpoints.html", on: func(q *asker) []demand {
		if role := q.subscriptionRole(); role != "" {
			return []demand{q.passes(role, "sns")}
		}
		return nil
	}}
}

var roleDependents = []dependent{
	hands("ec2:RunInstances", "IamInstanceProfile.Name", "ec2"), hands("ec2:RunInstances", "IamInstanceProfile.Arn", "ec2"),
	hands("ec2:AssociateIamInstanceProfile", "IamInstanceProfile.Name", "ec2"), hands("ec2:AssociateIamInstanceProfile", "IamInstanceProfile.Arn", "ec2"),
	hands("ec2:ReplaceIamInstanceProfileAssociation", "IamInstanceProfile.Name", "ec2"), hands("ec2:ReplaceIamInstanceProfileAssociation", "IamInstanceProfile.Arn", "ec2"),
	hands("iam:AddRoleToInstanceProfile", "RoleName", "ec2"), hands("lambda:CreateFunction", "Role", "lambda"), hands("lambda:UpdateFunctionConfiguration", "Role", "lambda"),
	hands("glue:CreateCrawler", "Role", "glue"), hands("glue:UpdateCrawler", "Role", "glue"), hands("eks:CreateCluster", "roleArn", "eks"),
	hands("eks:CreatePodIdentityAssociation", "roleArn", "pods.eks"), hands("eks:UpdatePodIdentityAssociation", "roleArn", "pods.eks"),
	hands("cognito-idp:CreateUserPool", "SmsConfiguration.SnsCallerArn", "cognito-idp"), hands("cognito-idp:UpdateUserPool", "SmsConfiguration.SnsCallerArn", "cognito-idp"),
	hands("cognito-idp:SetUserPoolMfaConfig", "SmsMfaConfiguration.SmsConfiguration.SnsCallerArn", "cognito-idp"),
	handsSubscription("sns:Subscribe"), handsSubscription("sns:SetSubscriptionAttributes"),
	{action: "s3:PutReplicationConfiguration", needs: "iam:PassRole", with: "<Role>", on: func(q *asker) []demand {
		return []demand{q.passes(firstMatch(roleElement, q.x.body), "s3")}
	}},
	{action: "rds:CreateDBInstance", needs: "iam:PassRole", never: noRoles},
	{action: "rds:ModifyDBInstance", needs: "iam:PassRole", never: noRoles},
	{action: "sns:CreateTopic", needs: "iam:PassRole", never: noDeliveries},
	{action: "sns:SetTopicAttributes", needs: "iam:PassRole", never: noDeliveries},
	linked("eks:CreateCluster", "", "eks"), linked("kms:CreateKey", "MultiRegion=true", "mrk.kms"),
}

// linked is the right to make the role that a service has for itself.
func linked(action, with, service string) dependent {
	return dependent{action: action, needs: "iam:CreateServiceLinkedRole", with: with, page: eksRights, on: func(q *asker) []demand {
		name := service + ".amazonaws.com"
		arn := "arn:" + q.partition() + ":iam::" + q.account() + ":role/aws-service-role/" + name + "/AWSServiceRole"
		return []demand{q.need("iam:CreateServiceLinkedRole", arn, map[string]string{"iam:AWSServiceName": name})}
	}}
}

// encrypted is the use of a key that a member names, through a service.
func encrypted(action, with, service string, uses ...string) dependent {
	return dependent{action: action, needs: "kms", with: with, page: usersOfKeys, on: func(q *asker) []demand {
		var out []demand
		for _, key := range q.values(with) {
			out = append(out, q.through(service, key, nil, uses...)...)
		}
		return out
	}}
}

// ofDatabase is one action of a key of RDS, which the reference lists each.
func ofDatabase(action, needs string) []dependent {
	return []dependent{{action: action, needs: needs, with: "KmsKeyId", on: func(q *asker) []demand {
		return q.through("rds", q.x.form.Get("KmsKeyId"), nil, needs)
	}}, encrypted(action, "MasterUserSecretKmsKeyId", "secretsmanager", needs)}
}

var keyDependents = slices.Concat(
	ofDatabase("rds:CreateDBInstance", "kms:CreateGrant"), ofDatabase("rds:CreateDBInstance", "kms:Decrypt"),
	ofDatabase("rds:CreateDBInstance", "kms:DescribeKey"), ofDatabase("rds:CreateDBInstance", "kms:GenerateDataKey"),
	ofDatabase("rds:ModifyDBInstance", "kms:CreateGrant"), ofDatabase("rds:ModifyDBInstance", "kms:Decrypt"),
	ofDatabase("rds:ModifyDBInstance", "kms:DescribeKey"), ofDatabase("rds:ModifyDBInstance", "kms:GenerateDataKey"),
	[]dependent{
		{action: "kms:CreateKey", needs: "kms:PutKeyPolicy", never: "KMS checks that the policy lets the caller change it, not that the caller may"},
		encrypted("ec2:RunInstances", "BlockDeviceMapping.#.Ebs.KmsKeyId", "ec2",
			"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"),
		encrypted("lambda:CreateFunction", "KMSKeyArn", "lambda", "kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"),
		encrypted("lambda:UpdateFunctionConfiguration", "KMSKeyArn", "lambda", "kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"),
		encrypted("eks:CreateCluster", "encryptionConfig.0.provider.keyArn", "eks", "kms:CreateGrant", "kms:DescribeKey"),
		encrypted("ecr:CreateRepository", "encryptionConfiguration.kmsKey", "ecr", "kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"),
		{action: "ssm:PutParameter", needs: "kms", with: "KeyId", page: usersOfKeys, on: func(q *asker) []demand {
			use := map[bool]string{true: "kms:GenerateDataKey", false: "kms:Encrypt"}[text(q.x.json["Tier"]) == "Advanced"]
			return q.through("ssm", text(q.x.json["KeyId"]), nil, use)
		}},
		{action: "ssm:GetParameter*", needs: "kms", with: "WithDecryption=true", page: usersOfKeys, on: (*asker).parameterKeys},
		{action: "lambda:GetFunction", needs: "kms:Decrypt", on: (*asker).functionKey, page: usersOfKeys},
		{action: "dynamodb:*", needs: "kms", on: (*asker).tableKey, page: usersOfKeys},
		{action: "s3:*", needs: "kms", on: (*asker).objectKey, page: usersOfKeys},
		{action: "secretsmanager:*", needs: "kms", on: (*asker).secretKey, page: usersOfKeys},
		{action: "sqs:*", needs: "kms", on: (*asker).queueKey, page: usersOfKeys},
		{action: "sns:Publish", needs: "kms", on: (*asker).topicKey, page: usersOfKeys},
	})

var otherDependents = []dependent{
	{action: "lambda:CreateFunction", needs: "lambda:PassCapacityProvider", never: "there is no field for capacity providers"},
	{action: "lambda:GetFunction", needs: "lambda:ListTags", at: []string{"lambda function:*"}, page: "without it GetFunction answers with TagsError"},
	{action: "lambda:CreateFunction", needs: "lambda:GetLayerVersion", with: "Layers", page: lambdaRights, on: func(q *asker) []demand {
		var out []demand
		for _, layer := range q.values("Layers") {
			out = append(out, q.need("lambda:GetLayerVersion", layer, nil))
		}
		return out
	}},
	ofImage("ecr:BatchGetImage", lambdaRights), ofImage("ecr:GetDownloadUrlForLayer", lambdaRights),
	// Lambda lets itself read the repository in whose policy it is not allowed yet.
	ofImage("ecr:GetRepositoryPolicy", imageRights), ofImage("ecr:SetRepositoryPolicy", imageRights),
	{action: "secretsmanager:RotateSecret", needs: "lambda:InvokeFunction", with: "RotationLambdaARN", page: "https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotating-secrets-required-permissions-function.html",
		on: func(q *asker) []demand {
			return []demand{q.need("lambda:InvokeFunction", text(q.x.json["RotationLambdaARN"]), nil)}
		}},
	{action: "s3:DeleteObjectVersion", needs: "s3:DeleteObject", on: (*asker).deletedObjects, page: "the text of DeleteObjects: always the right to delete objects, and that to versions"},
	{action: "glue:DeleteDatabase", needs: "glue:DeleteDatabase", at: []string{"glue table/*/*"}, page: "the reference marks what is in the database"},
}

// ofImage is a right to the image of a function.
func ofImage(needs, page string) dependent {
	return dependent{action: "lambda:CreateFunction", needs: needs, with: "Code.ImageUri", page: page, on: func(q *asker) []demand {
		registry, rest, _ := strings.Cut(text(member(q.x.json, "Code.ImageUri")), "/")
		name, _, _ := strings.Cut(rest, ":")
		name, _, _ = strings.Cut(name, "@")
		account, _, _ := strings.Cut(registry, ".")
		return []demand{q.need(needs, "arn:"+q.partition()+":ecr:"+q.x.region+":"+account+":repository/"+name, nil)}
	}}
}

// holds reports whether the request is one that takes the other action.
func (d dependent) holds(q *asker) bool {
	field, want, valued := strings.Cut(d.with, "=")
	switch {
	case d.never != "" || !matches(d.action, q.action):
		return false
	case d.with == "":
		return true
	case d.with == withTags:
		return len(q.tags) > 0
	case strings.HasPrefix(d.with, "<"):
		return strings.Contains(string(q.x.body), d.with)
	case strings.HasPrefix(d.with, "!"):
		return len(q.values(field[1:])) == 0
	case valued && q.x.form == nil:
		v, _ := member(q.x.json, field).(bool)
		return v == (want == "true")
	case valued:
		return slices.Contains(q.values(field), want)
	}
	return len(q.values(field)) > 0 || q.x.form == nil && member(q.x.json, field) != nil
}

// demands returns the demands of the other action.
func (d dependent) demands(q *asker) []demand {
	if d.on != nil {
		return d.on(q)
	}
	if len(d.at) == 0 {
		return []demand{q.need(d.needs, "*", nil)}
	}
	var out []demand
	for _, kind := range d.at {
		arns := q.arnsOf(templates()[kind])
		if len(arns) == 0 {
			arns = []string{q.anyOf(templates()[kind])}
		}
		for _, arn := range arns {
			one := q.need(d.needs, arn, nil)
			if isNew(q.x.op) {
				one.tags = nil // it has none yet
			}
			out = append(out, one)
		}
	}
	return out
}
