package capability

import (
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// AnnotationRoleARN makes EKS give the pods of a ServiceAccount the credentials of a role.
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
const AnnotationRoleARN = "eks.amazonaws.com/role-arn"

// appRole is what the workloads act as. The role's own object makes the trust policy from the cluster's
// issuer; here only the one ServiceAccount is named.
func (k *compiler) appRole() {
	o := &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{
		RoleName:            k.names.AppRole(),
		IRSA:                &awsv1.IAMRoleIRSA{ServiceAccount: k.names.ServiceAccount(), Namespace: k.names.WorkloadNamespace()},
		Description:         new("Workloads of " + k.names.Prefix()),
		InlinePolicies:      []awsv1.IAMInlinePolicy{{PolicyName: "app", PolicyDocument: k.document(k.appStatements()...)}},
		PermissionsBoundary: k.boundary(),
	}}
	if extra := k.extraStatements(); len(extra) > 0 {
		o.Spec.InlinePolicies = append(o.Spec.InlinePolicies, awsv1.IAMInlinePolicy{PolicyName: "extra", PolicyDocument: k.document(extra...)})
	}
	k.resource(part{kindRole, k.names.AppRole(), StepIAM, "iam"}, o, k.claimedEdges()...)
}

// boundary is the capability's, else the provider's; "" removes one that was dropped.
func (k *compiler) boundary() *string {
	if id := k.spec.Identity; id != nil && id.PermissionsBoundaryARN != "" {
		return &id.PermissionsBoundaryARN
	}
	return &k.facts.Boundary
}

// appStatements allow the use of exactly the capability's own resources.
func (k *compiler) appStatements() []statement {
	var out []statement
	out = append(out, k.tableStatements()...)
	out = append(out, k.bucketStatements()...)
	out = append(out, k.catalogStatements()...)
	out = append(out,
		statement{Sid: "Parameters", Action: []string{"ssm:GetParameter", "ssm:GetParameters"}, Resource: k.parameterARNs()},
		statement{Sid: "ParameterPath", Action: []string{"ssm:GetParametersByPath"},
			Resource: []string{k.home.arn("ssm", "parameter"+k.names.ParameterPath())}},
		statement{Sid: "Secrets", Action: []string{"secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"}, Resource: k.secretARNs()},
	)
	if keys := keysOf(k.spec); len(keys) > 0 {
		out = append(out, statement{Sid: "Keys", Action: []string{"kms:Decrypt", "kms:GenerateDataKey"}, Resource: keys})
	}
	return out
}

func (k *compiler) tableStatements() []statement {
	var arns []string
	for _, t := range tables(k.spec) {
		arns = append(arns, k.home.arn("dynamodb", "table/"+k.names.Of(t.Name)))
	}
	if len(arns) == 0 {
		return nil
	}
	return []statement{{Sid: "Tables", Action: []string{
		"dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:DescribeTable",
		"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:UpdateItem",
	}, Resource: arns}}
}

func (k *compiler) bucketStatements() []statement {
	var whole, objects []string
	for _, b := range buckets(k.spec) {
		whole = append(whole, k.home.bucketARN(k.names.Of(b.Name)))
		objects = append(objects, k.home.bucketARN(k.names.Of(b.Name)+"/*"))
	}
	if len(whole) == 0 {
		return nil
	}
	return []statement{
		{Sid: "Buckets", Action: []string{"s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"}, Resource: whole},
		{Sid: "Objects", Action: []string{
			"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject",
		}, Resource: objects},
	}
}

func (k *compiler) catalogStatements() []statement {
	if !glueEnabled(k.spec) {
		return nil
	}
	resources := k.catalog()
	for _, t := range glueTables {
		resources = append(resources, k.home.arn("glue", "table/"+k.names.GlueDatabase()+"/"+k.names.Glue(t)))
	}
	out := []statement{{Sid: "Catalog", Action: []string{
		"glue:BatchCreatePartition", "glue:BatchGetPartition", "glue:GetDatabase", "glue:GetPartition", "glue:GetPartitions",
		"glue:GetTable", "glue:GetTables",
	}, Resource: resources}}
	if crawlerSpec(k.spec) != nil {
		out = append(out, statement{Sid: "Crawler", Action: []string{"glue:GetCrawler", "glue:StartCrawler"},
			Resource: []string{k.home.arn("glue", "crawler/"+k.names.Crawler())}})
	}
	return out
}

func (k *compiler) extraStatements() []statement {
	if k.spec.Identity == nil {
		return nil
	}
	var out []statement
	for _, e := range k.spec.Identity.ExtraPolicyStatements {
		s := statement{}
		for _, a := range e.Actions {
			s.Action = append(s.Action, string(a))
		}
		for _, r := range e.Resources {
			s.Resource = append(s.Resource, string(r))
		}
		out = append(out, s)
	}
	return out
}

// namespace makes the workload namespace when it is not the capability's own, closed to pods that do not
// meet the restricted standard, which the workloads here do.
func (k *compiler) namespace() {
	if !k.madeNamespace() {
		return
	}
	o := &corev1.Namespace{}
	o.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	k.add(part{kindNamespace, k.names.WorkloadNamespace(), StepNamespace, "namespace"}, kube[kindNamespace], o, nil)
}

func (k *compiler) serviceAccount() {
	o := &corev1.ServiceAccount{AutomountServiceAccountToken: new(false)}
	o.Annotations = map[string]string{AnnotationRoleARN: k.home.roleARN(k.names.AppRole())}
	k.workload(part{kindServiceAccount, k.names.ServiceAccount(), StepServiceAccount, "identity"}, o)
}
