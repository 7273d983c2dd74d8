// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// structures holds the structures that the requests of a kind's rows sent to change a resource, and which of their members had a value. AWS
// replaces a structure as a whole: a member that the operator leaves out loses the value that others set. It is safe for concurrent use.
type structures struct {
	kind string
	mu   sync.Mutex
	// members says of each member, such as "lambda.UpdateFunctionConfiguration VpcConfig.SubnetIds", whether a request had it.
	members map[string]bool
}

func newStructures(kindName string) *structures {
	return &structures{kind: kindName, members: map[string]bool{}}
}

// initializing handles the input of a request before the client does.
type initializing = func(context.Context, middleware.InitializeInput, middleware.InitializeHandler) (middleware.InitializeOutput,
	middleware.Metadata, error)

// leftOut are the members that no request has although it sends the structure that they are in, by kind and operation, each with the
// reason why nothing of another owner is lost. A structure stands for all of its members.
var leftOut = map[string]string{
	"CognitoUserPool cognitoidentityprovider.UpdateUserPool": sentAsFound +
		"TestUpdatesKeepTheSettingsOfOthers",
	"DynamoDBTable dynamodb.UpdateContinuousBackups PointInTimeRecoverySpecification": "backups that are off have no period",
	"DynamoDBTable dynamodb.UpdateTable GlobalSecondaryIndexUpdates.Create":           "the index is new",
	"DynamoDBTable dynamodb.UpdateTable GlobalSecondaryIndexUpdates.Update":           keptByAWS,
	"ECSCluster ecs.UpdateCluster Configuration.ManagedStorageConfiguration": sentAsFound +
		"TestAConfigurationOfStorageOutsideTheOperatorStays",
	"EKSCluster eks.UpdateClusterConfig ResourcesVpcConfig": keptByAWS,
	"GlueCrawler glue.UpdateCrawler Targets":                sentAsFound + "TestTargetsOfOtherSortsStay",
	"GlueDatabase glue.UpdateDatabase DatabaseInput": sentAsFound +
		"TestWhatOthersSetOnADatabaseStays",
	"GlueTable glue.UpdateTable TableInput": sentAsFound + "TestWhatOthersSetOnATableStays",
	"LambdaFunction lambda.UpdateFunctionConfiguration VpcConfig": sentAsFound +
		"TestNetwork_AnEditKeepsTheWayOutByIPv6",
	"Route53RecordSet route53.ChangeResourceRecordSets ChangeBatch.Comment":                   "it is of the change, and nobody sees it later",
	"Route53RecordSet route53.ChangeResourceRecordSets ChangeBatch.Changes.ResourceRecordSet": "a record set has one routing, the one that the spec declares, or none",
	"S3Bucket s3.PutBucketEncryption ServerSideEncryptionConfiguration": sentAsFound +
		"TestEncryptionKeepsBlockedEncryptionTypes",
	"S3Bucket s3.PutBucketLifecycleConfiguration LifecycleConfiguration": sentAsFound + "TestLifecycleOverlay",
	"S3Bucket s3.PutBucketLogging BucketLoggingStatus": sentAsFound +
		"TestLoggingKeepsTheFormatOfTheNamesOfLogs",
	"S3Bucket s3.PutBucketNotificationConfiguration NotificationConfiguration": declaredAsAWhole,
	"S3Bucket s3.PutBucketReplication ReplicationConfiguration":                sentAsFound + "TestReplicationOverlay",
	"S3Bucket s3.PutBucketVersioning VersioningConfiguration.MFADelete":        "S3 keeps it, and refuses the request where it is on: whoever changes versioning then needs the device",
	"S3Bucket s3.PutBucketWebsite WebsiteConfiguration":                        sentAsFound + "TestRoutingRulesOfAWebsiteStay",
	"S3Bucket s3.PutObjectLockConfiguration ObjectLockConfiguration": sentAsFound +
		"TestLock_KeepsWhatTheSpecCannotDeclare",
	"SecretsManagerSecret secretsmanager.RotateSecret RotationRules.Duration": sentAsFound +
		"TestRotation_AnEditKeepsTheWindow",
	"SecretsManagerSecret secretsmanager.RotateSecret RotationRules.ScheduleExpression": "a schedule is an expression or days, and the spec declares days",
}

const (
	sentAsFound      = "the request begins with what was found: "
	keptByAWS        = "AWS keeps each member that a request leaves out"
	declaredAsAWhole = "the description of the field says that the lists are exact"
)

// watch returns a configuration with clients that note the structures of their requests.
func (s *structures) watch(cfg aws.Config) aws.Config { return sent(cfg, s.note) }

// sent returns a configuration with clients that show each request to see before they send it.
func sent(cfg aws.Config, see func(request any)) aws.Config {
	return initialized(cfg, "See",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput,
			middleware.Metadata, error) {
			see(in.Parameters)
			return next.HandleInitialize(ctx, in)
		})
}

// initialized returns a configuration with clients that pass each request first to handle.
func initialized(cfg aws.Config, name string, handle initializing) aws.Config {
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Nexus"+name, handle), middleware.Before)
	})
	return cfg
}

// making are the beginnings of operations that make a resource or an element, or only name one: they replace nothing.
var making = []string{"Create", "Run", "Request", "Allocate", "Get", "List", "Describe", "Delete", "Authorize", "Revoke", "Associate",
	"Replace", "Remove",
	"UpdateSecurityGroupRuleDescriptions"}

func (s *structures) note(request any) {
	v := reflect.ValueOf(request)
	operation := strings.TrimSuffix(strings.TrimPrefix(v.Type().String(), "*"), "Input")
	_, name, _ := strings.Cut(operation, ".")
	if slices.ContainsFunc(making, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range reflect.VisibleFields(v.Elem().Type()) {
		if f.IsExported() {
			s.noteValue(operation+" "+f.Name, v.Elem().FieldByIndex(f.Index))
		}
	}
}

// noteValue notes the members of the structures in a value.
func (s *structures) noteValue(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			s.noteValue(path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			s.noteValue(path, v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			s.noteValue(path, v.MapIndex(key))
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if !f.IsExported() {
				continue
			}
			member, value := path+"."+f.Name, v.FieldByIndex(f.Index)
			s.members[member] = s.members[member] || !value.IsZero()
			s.noteValue(member, value)
		}
	}
}

// compare fails for each member that the structures of requests leave out without a reason, and for each reason without such a member.
func (s *structures) compare(t *testing.T) {
	unused := map[string]bool{}
	for key := range leftOut {
		if strings.HasPrefix(key, s.kind+" ") {
			unused[key] = true
		}
	}
	for _, member := range slices.Sorted(maps.Keys(s.members)) {
		if s.members[member] {
			continue
		}
		if key := reasonFor(s.kind + " " + member); key == "" {
			t.Errorf("no request has %q: AWS may reset what somebody else set; send what was found, add a row, or name the reason in leftOut",
				s.kind+" "+member)
		} else {
			delete(unused, key)
		}
	}
	for key := range unused {
		t.Errorf("leftOut has %q, and the requests leave nothing of it out", key)
	}
}

// reasonFor returns the key of leftOut that stands for a member: its own, or that of a structure that it is in.
func reasonFor(member string) string {
	for key := range leftOut {
		if member == key || strings.HasPrefix(member, key+".") || strings.HasPrefix(member, key+" ") {
			return key
		}
	}
	return ""
}

// Request creates the resource of the first object, lets AWS answer as amend edits its answers, edits the object to the second, and returns
// the request of type In that the edit sends: AWS would drop every member of a structure that the request leaves out.
func Request[In any](t *testing.T, e engine.Entry, from, to v1alpha1.Resource, facts func(*Subject), amend func(output any)) *In {
	t.Helper()
	s := NewSubject(NewRig(t), e, from)
	if facts != nil {
		facts(s)
	}
	Settled(t, s)
	s.Edit(to)
	var found *In
	s.bound, s.config = nil, sent(amended(s.config, amend), func(request any) {
		if in, ok := request.(*In); ok {
			found = in
		}
	})
	if _, err := s.Settle(t.Context(), nil); found == nil {
		t.Fatalf("no such request was sent: %v\n%s", awsErr(err), s.Rig.AWS.Calls())
	}
	return found
}
