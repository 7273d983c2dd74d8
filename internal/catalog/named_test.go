// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// naming are names of fields that look as if they held the identifier of another resource.
var naming = regexp.MustCompile(`(?i)(ids?|arns?|bucket|role|uri|url|profile|endpoint|namespace|associations|providers?)$|(name|key|keys|group|groups|cluster|path|location)$`)

// The reasons why a field is not judged.
const (
	theObjects = "names the resource of the object, whose owner is judged before each write"
	aPart      = "names a part of the resource of the object"
	aName      = "is a name that people ask for, and changes nothing where it leads"
	notOurs    = "names what no object of the operator can own: an image, a group of zones, or a namespace of Service Connect by its name"
	pods       = "is limited to the cluster of the operator and the namespace of the object, see WhyNotForPods"
	bounded    = "needs the permissions boundary of the provider"
	profile    = "is refused unless the role of the profile may be passed"
	login      = "lets the owner of the key pair log in to the instance, and changes nothing of the key pair"
	database   = "is not promised, see docs/security.md"
	entry      = "may use the cluster of the object, and gives the object nothing of the principal"
	data       = "is a place in a bucket, which is read and written with the rights of who uses the table or of the role of the crawler"
)

// unjudged are the fields that look so and name nothing that another object could own, by kind and path, with the reason. The field that
// identifies the resource of the object is not listed.
var unjudged = map[string]string{
	"AWSResource.typeName": "a type of AWS", "IAMRole.path": theObjects, "IAMRole.instanceProfile.name": theObjects,
	"CognitoUserPool.poolName": theObjects, "Route53HostedZone.name": theObjects, "Route53RecordSet.name": theObjects,
	"SecurityGroup.groupName": theObjects, "EC2Instance.instanceName": theObjects,
	"S3Bucket.lifecycleRules.id": aPart, "S3Bucket.corsRules.id": aPart, "S3Bucket.notification.queues.id": aPart,
	"S3Bucket.notification.topics.id": aPart, "S3Bucket.notification.lambdaFunctions.id": aPart, "S3Bucket.replication.rules.id": aPart,
	"DynamoDBTable.hashKey.name": aPart, "DynamoDBTable.rangeKey.name": aPart, "DynamoDBTable.attributes.name": aPart,
	"DynamoDBTable.globalSecondaryIndexes.indexName": aPart, "DynamoDBTable.globalSecondaryIndexes.hashKey": aPart,
	"DynamoDBTable.globalSecondaryIndexes.rangeKey": aPart, "DynamoDBTable.localSecondaryIndexes.indexName": aPart,
	"DynamoDBTable.localSecondaryIndexes.rangeKey": aPart, "DynamoDBTable.ttl.attributeName": aPart,
	"IAMRole.inlinePolicies.policyName": aPart, "IAMRole.inlinePolicy.policyName": aPart, "GlueTable.partitionKeys.name": aPart,
	"GlueTable.storageDescriptor.columns.name": aPart, "GlueTable.storageDescriptor.serdeInfo.name": aPart,
	"SecretsManagerSecret.generate.keys": aPart, "SNSTopic.displayName": aPart, "CognitoUserPool.clients.name": aPart,
	"CognitoUserPool.groups.name": aPart, "ECSCluster.settings.name": aPart, "LambdaFunction.code.s3Key": aPart,
	"EC2Instance.blockDeviceMappings.deviceName": aPart, "EC2Instance.metadataOptions.httpEndpoint": aPart,
	"RDSInstance.masterUsername": aPart, "RDSInstance.dbName": aPart,
	"S3Bucket.website.redirectAllRequestsTo.hostName": aName, "Certificate.domainName": aName,
	"Route53RecordSet.validates.domainName": aName, "Route53RecordSet.aliasTarget.hostedZoneID": aName,
	"Route53RecordSet.aliasTarget.dnsName": aName,

	"ECSCluster.serviceConnectDefaults.namespace": notOurs,

	"ElasticIP.networkBorderGroup": notOurs, "EC2Instance.imageID": notOurs,

	"IAMRole.irsa.namespace": pods, "IAMRole.podIdentity.clusterName": pods, "IAMRole.podIdentity.namespace": pods,
	"PodIdentityAssociation.clusterName": pods, "PodIdentityAssociation.namespace": pods,
	"EKSCluster.accessEntries.principalARN": entry, "EKSCluster.accessEntries.kubernetesGroups": aPart,
	"EKSCluster.accessEntries.policies.policyName":          aPart,
	"SecurityGroup.ingressRules.sourceSecurityGroupOwnerID": aName, "SecurityGroup.egressRules.sourceSecurityGroupOwnerID": aName,
	"IAMRole.managedPolicyArns":      bounded,
	"EC2Instance.iamInstanceProfile": profile,
	"EC2Instance.keyName":            login,
	"GlueTable.databaseName":         database, "GlueCrawler.databaseName": database,
	"GlueDatabase.locationURI": data, "GlueTable.storageDescriptor.location": data, "GlueCrawler.s3Targets.path": data,
}

type namedField struct {
	path   string
	judged bool
}

// fieldsOf lists the fields of a spec that hold texts and look as if they named a resource.
func fieldsOf(t reflect.Type, path, name string, judged bool, seen []reflect.Type) []namedField {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[v1alpha1.ObjectReference](), reflect.TypeFor[v1alpha1.SecretReference](),
		reflect.TypeFor[v1alpha1.SecretKeyReference](), reflect.TypeFor[v1alpha1.CommonSpec](),
		reflect.TypeFor[v1alpha1.ImportSpec]():
		return nil // of the same namespace, or judged as the resource of the object
	}
	switch {
	case t.Kind() == reflect.String && naming.MatchString(name):
		return []namedField{{path, judged}}
	case t.Kind() != reflect.Struct:
		return nil
	}
	for _, s := range seen {
		if s == t {
			return nil
		}
	}
	var out []namedField
	for i := range t.NumField() {
		f := t.Field(i)
		json, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		below := path + "." + json
		if json == "" {
			below = path
		}
		out = append(out, fieldsOf(f.Type, below, json, f.Tag.Get("names") != "", append(seen, t))...)
	}
	return out
}

func TestFieldsThatNameResourcesAreJudged(t *testing.T) {
	used := map[string]bool{}
	for _, e := range catalog.Kinds() {
		spec, _ := reflect.TypeOf(e.New()).Elem().FieldByName("Spec")
		own := ""
		if names := e.ExportIdentity(); len(names) > 0 {
			own = e.Name() + "." + strings.TrimSuffix(names[len(names)-1], kind.OptionalIdentity)
		}
		for _, f := range fieldsOf(spec.Type, e.Name(), "", false, nil) {
			_, listed := unjudged[f.path]
			used[f.path] = listed && f.path != own
			if (listed || f.path == own) == f.judged {
				t.Errorf("%s: judged %v, excused %v: give the field a tag names, or say here why not", f.path, f.judged, listed)
			}
		}
	}
	for path := range unjudged {
		if !used[path] {
			t.Errorf("%s: no such field, or the one that identifies the resource", path)
		}
	}
}

// freeTexts lists the paths of the fields of a schema that take any text, or any of a pattern, and have names that do not suggest
// resources.
func freeTexts(s *apiextensionsv1.JSONSchemaProps, path, name string, out *[]string) {
	if s.Type == "string" && len(s.Enum) == 0 && !naming.MatchString(name) {
		*out = append(*out, path)
	}
	for property, below := range s.Properties {
		if !strings.HasSuffix(property, "Ref") && !strings.HasSuffix(property, "Refs") { // objects of the same namespace
			freeTexts(&below, path+"."+property, property, out)
		}
	}
	if s.Items != nil && s.Items.Schema != nil {
		freeTexts(s.Items.Schema, path, name, out)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		freeTexts(s.AdditionalProperties.Schema, path, name, out)
	}
}

// judgedTexts are fields with names that do not suggest resources and that are judged by their tag, or by the limits of the provider.
var judgedTexts = map[string]bool{"LambdaFunction.layers": true, "IAMRole.permissionsBoundary": true}

// Fields that take texts, and that neither a tag nor their name makes a reference, are in a list that a person has read: none of them
// makes AWS use a resource that another object could own. A new field is not in the list.
func TestFieldsOfFreeTextNameNoResources(t *testing.T) {
	files, err := filepath.Glob("../../config/crd/bases/aws-infra-operator.runner.codes_*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	var have []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			t.Fatal(err)
		}
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		freeTexts(&spec, crd.Spec.Names.Kind, "", &have)
	}
	have = slices.DeleteFunc(have, func(path string) bool { return judgedTexts[path] || strings.HasPrefix(path, "AWSProvider.") })
	slices.Sort(have)
	path := filepath.Join("testdata", "free-texts.txt")
	if os.Getenv("NEXUS_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(strings.Join(have, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
	for _, field := range have {
		if !slices.Contains(listed, field) {
			t.Errorf("%s takes texts: give it the tag names if it can name a resource, or run the test with NEXUS_UPDATE=1", field)
		}
	}
	if len(listed) != len(have) {
		t.Errorf("%s lists %d fields, and there are %d: run the test with NEXUS_UPDATE=1", path, len(listed), len(have))
	}
}
