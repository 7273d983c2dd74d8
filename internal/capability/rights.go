// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Proof says what a child owns in AWS.
type Proof struct {
	// ARN is that of the child's resource.
	ARN string
	// UID is the child's, which its resources carry as a tag.
	UID string
	// Names are the SSM parameters of a parameter set, relative to its path.
	Names []string
	// Client is the ID of the app client of a user pool.
	Client string
	// Values are the exported values of a resource that are known, by their variables.
	Values map[string]string
	// Settled is true for a resource that is as declared, of which no more values are expected.
	Settled bool
	// Foreign is true for an existing store that an object of another namespace owns, and Neighbor for one that another object of the same
	// namespace owns.
	Foreign, Neighbor bool
}

// wellknown.TagOwnerUID is the tag that the operator puts on whatever an object owns in AWS.

// Granting are the kinds on whose resources the roles of a capability get rights.
var Granting = []string{kindTable, kindBucket, kindGlueDatabase, kindGlueTable, kindGlueCrawler, kindParameters, kindSecret, kindQueue, kindTopic, kindKey}

// Proving are the kinds whose proofs are gathered: the granting ones, and those with identifiers that AWS assigns: of the user
// pool they go to the workloads, of the certificate to the load balancer.
var Proving = append(slices.Clone(Granting), kindPool, kindCertificate)

// Prove returns what a child of the kind owns in AWS, with the ID of its node. A child proves something when the
// capability controls it, it goes through the capability's provider, and the operator recorded its ARN in the
// status of a resource that the child owned at the last look. Tenants can write such objects but not their
// status. A resource that has another owner by now proves nothing, nor
// does a child whose resource was deleted and that only others keep.
func Prove(c *nexusv1.NexusAICapability, kind string, child awsv1.Resource) (id string, proof Proof, ok bool) {
	if _, is := existingOf(c, kind, child.GetName()); is {
		return proveExisting(c, kind, child)
	}
	st := child.CommonStatus()
	part, isPart := resourceOf(c, kind, child.GetName())
	if !isChildOf(c, child) || st.ARN == "" && !isPart || !ownsNow(kind, child) {
		return "", Proof{}, false
	}
	proof = Proof{ARN: st.ARN, UID: string(child.GetUID())}
	if set, is := child.(*awsv1.SSMParameterSet); is {
		proof.Names = slices.Clone(set.Status.ManagedNames)
	}
	if pool, is := child.(*awsv1.CognitoUserPool); is {
		proof.Client = pool.Status.ClientIDs[SignInClient]
	}
	if isPart {
		proof.Values, proof.Settled = exportedBy(part, child), status.ReadyAt(st.Conditions, child.GetGeneration())
	}
	return graph.ID(kind, child.GetNamespace(), child.GetName(), c.Namespace), proof, true
}

// ownsNow reports whether a child manages a resource that was its own at the last look.
func ownsNow(kind string, child awsv1.Resource) bool {
	st := child.CommonStatus()
	return st.OwnsResource() && !awsv1.IsLeftBehind(kind, child) && child.CommonSpec().ManagementPolicy != awsv1.ManageObserve && !status.IsDisputed(st.Conditions)
}

// proveExisting tells the ARN of the existing store that a child observes. The status, which tenants cannot write, has it once AWS showed the store
// under the name that the child declares. While the object is paused, it does not notice another owner.
func proveExisting(c *nexusv1.NexusAICapability, kind string, child awsv1.Resource) (id string, proof Proof, ok bool) {
	st, paused := child.CommonStatus(), child.GetAnnotations()[wellknown.AnnotationPaused] == "true"
	if !isChildOf(c, child) || !IsExisting(child) || paused || st.ARN == "" || st.Ownership == "" || st.Ownership == awsv1.OwnershipDisputed {
		return "", Proof{}, false
	}
	proof = Proof{ARN: st.ARN, UID: string(child.GetUID()), Foreign: st.Ownership == awsv1.OwnershipObservedForeign}
	return graph.ID(kind, child.GetNamespace(), child.GetName(), c.Namespace), proof, true
}

// isChildOf reports whether the capability controls an object that goes through the capability's provider.
func isChildOf(c *nexusv1.NexusAICapability, child awsv1.Resource) bool {
	owner, provider := metav1.GetControllerOf(child), child.CommonSpec().ProviderRef
	return owner != nil && owner.UID == c.UID && provider.Name == ProviderName(c) && (provider.Namespace == "" || provider.Namespace == c.Namespace)
}

// addGrant adds a child to those on which the application's role gets rights. The role waits for all of them, so
// that its policy is written once.
func (k *compiler) addGrant(id string) { k.grants = append(k.grants, id) }

// owned returns the ARN if that is what the child owns, else "".
func (k *compiler) owned(id, arn string) string {
	if k.expected != nil {
		return k.expect(id, Proof{ARN: arn}).ARN
	}
	if k.assumeOwned || k.proof(id).ARN == arn {
		return arn
	}
	return ""
}

// appStatements allow the use of exactly those of the capability's resources that are proven to be its own, and of what it
// names in Bedrock. A name alone gives no right to a store: another capability, or anybody in AWS, could have taken it
// first.
func (k *compiler) appStatements() []iampolicy.Statement {
	return slices.Concat(k.tableStatements(), k.bucketStatements(), k.catalogStatements(), k.parameterStatements(), k.secretStatements(),
		k.queueStatements(), k.topicStatements(), k.roleStatements(), k.resourceStatements(), k.keyStatements(), k.bedrockStatements())
}

func (k *compiler) tableStatements() []iampolicy.Statement {
	var arns, names []string
	for _, t := range selectedTables(k.spec) {
		if e := existingTable(t); e.store != nil {
			arns = appendARN(arns, k.external(e))
			continue
		}
		name := k.names.Of(t.Name)
		if arn := k.owned(kindTable+"/"+name, k.home.arn("dynamodb", "table/"+name)); arn != "" {
			arns, names = append(arns, arn), append(names, name)
		}
	}
	if len(arns) == 0 {
		return nil
	}
	out := []iampolicy.Statement{{Sid: "Tables", Action: []string{
		"dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:DescribeTable",
		"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:UpdateItem",
	}, Resource: arns}}
	if key := dynamodbSpec(k.spec).KMSKeyArn; key != "" && len(names) > 0 {
		out = append(out, k.tableKey(key, names))
	}
	return out
}

func (k *compiler) bucketStatements() []iampolicy.Statement {
	var own, whole, objects []string
	for _, b := range selectedBuckets(k.spec) {
		if e := existingBucket(b); e.store != nil {
			whole = appendARN(whole, k.external(e))
			continue
		}
		arn := k.owned(kindBucket+"/"+bucketObject(k.c, b.Name), k.home.bucketARN(k.bucketName(b.Name)))
		own, whole = appendARN(own, arn), appendARN(whole, arn)
	}
	for _, arn := range whole {
		objects = append(objects, arn+"/*")
	}
	if len(whole) == 0 {
		return nil
	}
	out := []iampolicy.Statement{
		{Sid: "Buckets", Action: []string{"s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"}, Resource: whole},
		{Sid: "Objects", Action: []string{
			"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject",
		}, Resource: objects},
	}
	if key := s3Spec(k.spec).KMSKeyArn; key != "" && len(own) > 0 {
		out = append(out, k.bucketKey(keyUse, key, own))
	}
	return out
}

// keyUse lists the actions for reading and writing encrypted data.
var keyUse = []string{"kms:Decrypt", "kms:GenerateDataKey"}

// keyReads lists the actions for reading encrypted data.
var keyReads = []string{"kms:Decrypt"}

// maxNamedStores limits the stores that the condition of a key names one by one; more are named by their common prefix.
// The prefix may fit stores of others too, whose data the role has no right to read or to write.
const maxNamedStores = 8

func (k *compiler) byPrefix(names []string, prefix string) []string {
	if len(names) > maxNamedStores {
		return []string{prefix + k.names.Of("*")}
	}
	return names
}

// tableKey allows the use of a key through DynamoDB and for the tables alone: the capability names the key, which
// may protect other data as well.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func (k *compiler) tableKey(key string, tables []string) iampolicy.Statement {
	return iampolicy.Statement{Sid: "TableKey", Action: keyUse, Resource: []string{key}, Condition: iampolicy.Conditions{
		"StringEquals": {"kms:ViaService": {k.home.service("dynamodb")}},
		"StringLike":   {"kms:EncryptionContext:aws:dynamodb:tableName": k.byPrefix(tables, "")},
	}}
}

// bucketKey allows the use of a key through S3 and for the buckets alone. S3 encrypts with the ARN of the bucket, if
// it has a bucket key, or of the object as context.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func (k *compiler) bucketKey(actions []string, key string, buckets []string) iampolicy.Statement {
	var contexts []string
	for _, b := range k.byPrefix(buckets, k.home.bucketARN("")) {
		contexts = append(contexts, b, b+"/*")
	}
	return iampolicy.Statement{Sid: "BucketKey", Action: actions, Resource: []string{key}, Condition: iampolicy.Conditions{
		"StringEquals": {"kms:ViaService": {k.home.service("s3")}},
		"StringLike":   {"kms:EncryptionContext:aws:s3:arn": contexts},
	}}
}

// service is the name of an AWS service in a region, as kms:ViaService has it.
// https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
func (h home) service(name string) string {
	return name + "." + h.region + "." + wellknown.DNSSuffix(h.partition)
}

func (k *compiler) catalogStatements() []iampolicy.Statement {
	if !glueEnabled(k.spec) {
		return nil
	}
	database := k.owned(k.databaseID(), k.home.arn("glue", "database/"+k.names.GlueDatabase()))
	if database == "" {
		return nil
	}
	// Glue asks for rights on the catalog and the database as well for any table:
	// https://docs.aws.amazon.com/glue/latest/dg/glue-specifying-resource-arns.html
	resources := []string{k.home.arn("glue", "catalog"), database}
	for _, t := range glueTables {
		if arn := k.owned(kindGlueTable+"/"+k.names.Of(t), k.home.arn("glue", "table/"+k.names.GlueDatabase()+"/"+k.names.Glue(t))); arn != "" {
			resources = append(resources, arn)
		}
	}
	out := []iampolicy.Statement{{Sid: "Catalog", Action: []string{
		"glue:BatchCreatePartition", "glue:BatchGetPartition", "glue:GetDatabase", "glue:GetPartition", "glue:GetPartitions",
		"glue:GetTable", "glue:GetTables",
	}, Resource: resources}}
	crawler := k.owned(kindGlueCrawler+"/"+k.names.Crawler(), k.home.arn("glue", "crawler/"+k.names.Crawler()))
	if crawlerSpec(k.spec) != nil && crawler != "" {
		out = append(out, iampolicy.Statement{Sid: "Crawler", Action: []string{"glue:GetCrawler", "glue:StartCrawler"}, Resource: []string{crawler}})
	}
	return out
}

// maxNamedParameters limits the parameters that a policy names one by one. All policies of a role share 10,240
// characters.
const maxNamedParameters = 24

// sidParameters is the statement about the SSM parameters.
const sidParameters = "Parameters"

// parameterStatements name the parameters one by one, or those of the path that carry the tag of the parameter set.
// A right on the path alone would reach whatever else anybody puts below it; that is why
// ssm:GetParametersByPath, which AWS decides by the path, is not among the actions.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-access.html
func (k *compiler) parameterStatements() []iampolicy.Statement {
	id := kindParameters + "/" + k.names.Prefix()
	values, proof := k.parameterValues(), k.proof(id)
	if k.expected != nil {
		proof = k.expectParameters(id, values)
	}
	path := "parameter" + k.names.ParameterPath() + "/"
	names := proof.Names
	if k.assumeOwned {
		names = slices.Collect(maps.Keys(values))
	}
	var arns []string
	for _, name := range names {
		if _, declared := values[name]; declared {
			arns = append(arns, k.home.arn("ssm", path+name))
		}
	}
	out := iampolicy.Statement{Sid: sidParameters, Action: []string{"ssm:GetParameter", "ssm:GetParameters"}, Resource: arns}
	switch {
	case len(arns) == 0:
		return nil
	case len(arns) > maxNamedParameters && !k.access.limited:
		out.Resource = []string{k.home.arn("ssm", path+"*")}
		out.Condition = iampolicy.Conditions{"StringEquals": {"aws:ResourceTag/" + wellknown.TagOwnerUID: {proof.UID}}}
	default:
		slices.Sort(out.Resource)
	}
	return []iampolicy.Statement{out}
}

// provenARN is the ARN that AWS assigned to what a child owns, or a placeholder until that is proven.
func (k *compiler) provenARN(id string) string {
	return cmp.Or(k.proof(id).ARN, placeholderFor(id))
}

// assigned returns the ARN of a child of which AWS chooses the last characters; "" when it is not proven to be the child's.
func (k *compiler) assigned(id, begin string, chosen int) string {
	arn := k.proof(id).ARN
	if k.expected != nil {
		arn = k.expect(id, Proof{ARN: begin + placeholderFor(id)}).ARN
	}
	if k.assumeOwned {
		arn = begin + strings.Repeat("?", chosen)
	}
	if !strings.HasPrefix(arn, begin) {
		return ""
	}
	return arn
}

// secretEnding is the number of characters that Secrets Manager chooses for the end of an ARN.
const secretEnding = 6

// secretStatements name the secrets by their whole ARNs, of which AWS chooses the last six characters.
func (k *compiler) secretStatements() []iampolicy.Statement {
	var arns []string
	for _, s := range keep(k.access, ofSecrets, secretsOf(k.spec), func(s nexusv1.SecretSpec) string { return s.Name }) {
		if e := existingSecret(s); e.store != nil {
			arns = appendARN(arns, k.external(e))
			continue
		}
		id, begin := kindSecret+"/"+k.names.Of(s.Name), k.home.arn("secretsmanager", "secret:"+k.names.Secret(s.Name)+"-")
		arns = appendARN(arns, k.assigned(id, begin, secretEnding))
	}
	if len(arns) == 0 {
		return nil
	}
	return []iampolicy.Statement{{Sid: "Secrets", Action: []string{"secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"}, Resource: arns}}
}
