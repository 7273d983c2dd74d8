// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// neighbors are resources of another namespace, by what stands for their identifiers in the attacks.
func (b *bed) neighbors(namespace string) map[string]string {
	b.Helper()
	p := provider("aws")
	p.Namespace = namespace
	b.Create(p)
	b.Ready(p)
	out := map[string]string{}
	make := func(kind, name, spec string) {
		o := attack{kind: kind, spec: spec, meta: "name: " + name}.object(b, 0, namespace, nil)
		b.Create(o)
		b.Eventually(time.Minute, kind+" to be ready", func() error {
			err := b.Get(o)
			ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
			if err == nil && !ready {
				err = fmt.Errorf("%v", o.Object["status"])
			}
			return err
		})
		id, _, _ := unstructured.NestedString(o.Object, "status", "id")
		arn, _, _ := unstructured.NestedString(o.Object, "status", "arn")
		out[kind], out[kind+"ARN"] = id, arn
	}
	make("VPC", "net", "")
	make("Subnet", "a", "")
	make("SecurityGroup", "group", "")
	make("ElasticIP", "address", "")
	make("InternetGateway", "gateway", "")
	make("Route53HostedZone", "zone", "name: alice.example.com")
	make("S3Bucket", "code", "bucketName: alice-code")
	make("SQSQueue", "jobs", "queueName: alice-jobs")
	make("SNSTopic", "alarms", "topicName: alice-alarms")
	make("KMSKey", "key", "aliases: [alias/alice]")
	make("ECRRepository", "image", "repositoryName: alice/shop")
	make("IAMRole", "role", "roleName: alice-role\npath: /team/\nirsa: {serviceAccount: app}\nproviderRef: {name: aws}")
	return out
}

// attacksByIdentifiers name resources of another namespace by their identifiers.
var attacksByIdentifiers = []attack{
	{wants: "a subnet to use a table of its own", kind: "RouteTable", spec: `{vpcRef: {name: mine}, subnetAssociations: [Subnet!]}`,
		says: []string{"spec.subnetAssociations[0]"}},
	{wants: "a table in another's network", kind: "RouteTable", spec: `{vpcRef: null, vpcID: VPC!}`, says: []string{"spec.vpcID"}},
	{wants: "a route to another's gateway", kind: "RouteTable",
		spec: `{vpcRef: {name: mine}, routes: [{destinationCidrBlock: 0.0.0.0/0, gatewayID: InternetGateway!}]}`,
		says: []string{"spec.routes[0].gatewayID"}},
	{wants: "a zone inside another's network", kind: "Route53HostedZone",
		spec: `{privateZone: true, name: db.alice.internal, vpcs: [{vpcId: VPC!}]}`, says: []string{"spec.vpcs[0].vpcId"}},
	{wants: "a record in another's zone", kind: "Route53RecordSet",
		spec: `{hostedZoneID: Route53HostedZone!, name: _acme-challenge.alice.example.com, type: TXT, resourceRecords: ["\"x\""]}`,
		says: []string{"spec.hostedZoneID"}},
	{wants: "a subnet in another's network", kind: "Subnet", spec: `{vpcRef: null, vpcID: VPC!}`, says: []string{"spec.vpcID"}},
	{wants: "a group in another's network", kind: "SecurityGroup", spec: `{vpcRef: null, vpcID: VPC!}`, says: []string{"spec.vpcID"}},
	{wants: "to attach a gateway to another's network", kind: "InternetGateway", spec: `vpcID: VPC!`, says: []string{"spec.vpcID"}},
	{wants: "another's address", kind: "NATGateway", spec: `{subnetRef: {name: mine}, connectivityType: public, allocationID: ElasticIP!}`,
		says: []string{"spec.allocationID"}},
	{wants: "an instance in another's subnet", kind: "EC2Instance", spec: `subnetID: Subnet!`, says: []string{"spec.subnetID"}},
	{wants: "an instance in another's group", kind: "EC2Instance", spec: `{subnetRef: {name: mine}, securityGroupIDs: [SecurityGroup!]}`,
		says: []string{"spec.securityGroupIDs[0]"}},
	{wants: "another's code", kind: "LambdaFunction",
		spec: `{roleRef: {name: mine}, code: {s3Bucket: alice-code, s3Key: app.zip}, runtime: python3.12, handler: x.y}`,
		says: []string{"spec.code.s3Bucket"}},
	{wants: "another's image", kind: "LambdaFunction",
		spec: `{roleRef: {name: mine}, code: {imageUri: "123456789012.dkr.ecr.ap-southeast-1.amazonaws.com/alice/shop:v1"}}`,
		says: []string{"spec.code.imageUri"}},
	{wants: "logs in another's bucket", kind: "S3Bucket", spec: `logging: {targetBucket: alice-code}`,
		says: []string{"spec.logging.targetBucket"}},
	{wants: "another's queue as its dead-letter queue", kind: "SQSQueue",
		spec: `deadLetterQueue: {targetArn: "SQSQueueARN!", maxReceiveCount: 3}`, says: []string{"spec.deadLetterQueue.targetArn"}},
	{wants: "messages in another's queue", kind: "SNSTopic", spec: `subscriptions: [{protocol: sqs, endpoint: "SQSQueueARN!"}]`,
		says: []string{"spec.subscriptions[0].endpoint"}},
	{wants: "another's key", kind: "SQSQueue", spec: `kmsMasterKeyId: KMSKey!`, says: []string{"spec.kmsMasterKeyId"}},
	{wants: "another's key by its alias", kind: "SNSTopic", spec: `kmsMasterKeyId: alias/alice`, says: []string{"spec.kmsMasterKeyId"}},
	{wants: "another's key for a parameter", kind: "SSMParameterSet", spec: `parameters: {a: {value: b, type: SecureString, keyID: KMSKey!}}`,
		says: []string{"spec.parameters[a].keyID"}},
	{wants: "another's role below the path of the provider", kind: "GlueCrawler", spec: `role: team/alice-role` + "\n" + throughPath,
		says: []string{"spec.role"}},
}

// What a tenant names by its identifier has no owner, or belongs to the tenant's own namespace.
func TestAttack_IdentifiersOfAnotherNamespaceAreRefused(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=team-*,neighbor-*")
	there := b.MakeNamespace("neighbor-" + b.Namespace)
	b.provider()
	pathed := provider("pathed")
	pathed.Spec.RolePathPrefix = "/team/"
	net := &v1alpha1.VPC{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "mine"},
		Spec: v1alpha1.VPCSpec{CommonSpec: through("aws"), CIDRBlock: "10.9.0.0/16"}}
	subnet := &v1alpha1.Subnet{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "mine"},
		Spec: v1alpha1.SubnetSpec{CommonSpec: through("aws"), CIDRBlock: "10.9.1.0/24"}}
	subnet.Spec.VPCRef = &v1alpha1.ObjectReference{Name: "mine"}
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "mine"},
		Spec: v1alpha1.IAMRoleSpec{CommonSpec: through("aws"), RoleName: "mallory", IRSA: &v1alpha1.IAMRoleIRSA{ServiceAccount: "app"}}}
	gateway := &v1alpha1.InternetGateway{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "mine"},
		Spec: v1alpha1.InternetGatewaySpec{CommonSpec: through("aws"), VPCRef: &v1alpha1.ObjectReference{Name: "mine"}}}
	b.Create(pathed, net, subnet, role, gateway)
	b.Ready(pathed, net, subnet, role, gateway)
	theirs := b.neighbors(there)
	var replace []string
	for name, id := range theirs {
		replace = append(replace, name+"!", id)
	}
	named := strings.NewReplacer(replace...)
	tenant, mark := b.Tenant(b.Namespace), b.World.AWS().Mark()
	made := map[int]*unstructured.Unstructured{}
	rows := attacksByIdentifiers
	for i := range rows {
		rows[i].spec, rows[i].reason = named.Replace(rows[i].spec), "NotPermitted"
		rows[i].says = append(rows[i].says, "belongs to an object of another namespace", "--shared-namespaces")
		o := rows[i].object(t, i, b.Namespace, nil)
		if err := rows[i].make(t, tenant, o); err != nil {
			t.Errorf("%s: %v", rows[i].wants, err)
			continue
		}
		made[i] = o
	}
	b.refuses(rows, made)
	b.tellsNothing(b.Namespace, there, 15)
	if w := awsWrites(b.World.AWS().Since(mark)); len(w) > 0 {
		t.Errorf("AWS was written to:\n%s", w)
	}
}
