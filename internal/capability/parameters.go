// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"maps"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// parameters makes the one object that holds all SSM parameters.
func (k *compiler) parameters() {
	o := &awsv1.SSMParameterSet{Spec: awsv1.SSMParameterSetSpec{
		Path: k.names.ParameterPath(), Parameters: map[string]awsv1.SSMParameter{},
	}}
	for name, value := range k.parameterValues() {
		o.Spec.Parameters[name] = awsv1.SSMParameter{Value: value, Type: "String"}
	}
	k.parameterSet = k.resource(part{kindParameters, k.names.Prefix(), StepSSM, "ssm"}, o)
}

// parameterValues are the parameters by their names below the path: what an application needs to find
// everything that belongs to it.
func (k *compiler) parameterValues() map[string]string {
	v := map[string]string{
		"aws/region": k.home.region, "aws/account-id": k.home.account,
		"app/capability": k.names.Capability, "app/environment": k.names.Environment, "app/version": k.spec.Version,
		"k8s/namespace": k.names.WorkloadNamespace(),
	}
	if sets := accessSets(k.spec); len(sets) > 0 && !sets[0].limited {
		v["iam/app-role-arn"] = k.home.roleARN(k.names.AppRole())
	}
	for _, t := range selectedTables(k.spec) {
		v["dynamodb/"+t.Name+"-table"] = k.tableName(t)
	}
	for _, b := range selectedBuckets(k.spec) {
		v["s3/"+b.Name+"-bucket"] = k.nameOfBucket(b)
	}
	if glueEnabled(k.spec) {
		v["glue/database"] = k.names.GlueDatabase()
		for _, t := range glueTables {
			v["glue/"+t+"-table"] = k.names.Glue(t)
		}
	}
	for purpose, url := range k.queueURLs() {
		v["sqs/"+purpose+"-queue-url"] = url
	}
	for _, t := range selectedTopics(k.spec) {
		v["sns/"+t.Name+"-topic-arn"] = k.topicARN(t)
	}
	maps.Copy(v, k.roleARNs(func(purpose string) string { return "roles/" + purpose + "-role-arn" }))
	maps.Copy(v, k.existingSecrets(func(purpose string) string { return "secrets/" + purpose + "-secret" }))
	for name, value := range k.keyValues() {
		v["kms/"+name] = value
	}
	for name, value := range k.signInValues() {
		v["cognito/"+name] = value
	}
	maps.Copy(v, k.bedrockParameters())
	maps.Copy(v, k.exportParameters())
	return v
}
