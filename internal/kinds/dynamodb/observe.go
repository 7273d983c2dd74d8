package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Observe describes the table, then reads its tags and each declared part that a table description
// does not tell, all at once.
func (t *table) Observe(ctx context.Context, want TableState) (kind.Seen[TableState], error) {
	absent := kind.Seen[TableState]{}
	out, err := t.api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &want.Name})
	if awsclient.IsNotFound(err) || err == nil && out.Table == nil {
		return absent, nil
	}
	if err != nil {
		return absent, err
	}
	d := out.Table
	if err := unusable(d); err != nil && !want.Deleting {
		return absent, err
	}
	s := TableState{
		Name: want.Name, ARN: aws.ToString(d.TableArn), Status: string(d.TableStatus),
		Keys: fromKeys(d), BillingMode: fromBilling(d.BillingModeSummary), Throughput: fromThroughput(d.ProvisionedThroughput),
		SSE: fromEncryption(d.SSEDescription, want.SSE), DeletionProtection: aws.Bool(aws.ToBool(d.DeletionProtectionEnabled)),
	}
	seen := kind.Seen[TableState]{Exists: true, Created: aws.ToTime(d.CreationDateTime), Busy: busy(d)}
	if err := t.parts(ctx, want, seen.Busy == "", &s); err != nil {
		return absent, unreadable(err, d)
	}
	seen.State, seen.Tags = s, s.Tags
	lifts := want.DeletionProtection != nil && !*want.DeletionProtection
	if aws.ToBool(s.DeletionProtection) && !lifts {
		seen.Holds = []kind.Hold{protected()}
	}
	return seen, nil
}

func protected() kind.Hold {
	return kind.Hold{Reason: status.ReasonDeletionProtected, Message: "deletion protection to be lifted: " +
		"set deletionProtection: false to have it lifted and the table deleted, or deletionPolicy: Retain to keep the table"}
}

// busy names the states in which DynamoDB accepts no change; all of them pass.
func busy(d *types.TableDescription) string {
	switch d.TableStatus {
	case types.TableStatusCreating, types.TableStatusUpdating, types.TableStatusDeleting, types.TableStatusArchiving:
		return "the table is " + string(d.TableStatus)
	default:
		return ""
	}
}

// unusable names the states that only a person can end: to call such a table Ready would be a lie.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func unusable(d *types.TableDescription) error {
	switch d.TableStatus {
	case types.TableStatusInaccessibleEncryptionCredentials:
		return &status.Stalled{Reason: status.ReasonAccessDenied, Message: "DynamoDB cannot use the KMS key that encrypts the table: " +
			"enable the key and its grants within seven days, or DynamoDB archives the table"}
	case types.TableStatusArchived:
		return &status.Stalled{Reason: status.ReasonMissing, Message: "DynamoDB archived the table because its KMS key stayed out of reach: " +
			"delete the archived table and restore it from the backup that DynamoDB made"}
	default:
		return nil
	}
}

// unreadable reads a failure to get the parts. A table that comes or goes may have no tags to show yet
// or any more; without them nobody can say whose it is, so nothing is concluded.
func unreadable(err error, d *types.TableDescription) error {
	class := awsclient.Classify(err).Class
	if b := busy(d); b != "" && (class == awsclient.NotFound || class == awsclient.Busy) {
		return &status.Waiting{Reason: status.ReasonBusy, For: "AWS: " + b, After: busyAfter}
	}
	return err
}

// busyAfter is how long a table takes at least to come or go.
const busyAfter = 5 * time.Second

func (t *table) parts(ctx context.Context, want TableState, settled bool, s *TableState) error {
	group := errgroup.Group{}
	group.Go(func() (err error) {
		s.Tags, err = t.tags(ctx, s.ARN)
		return err
	})
	if settled && want.PITR != nil {
		group.Go(func() error { return t.backups(ctx, want.Name, s) })
	}
	if settled && want.TTL != nil {
		group.Go(func() error { return t.timeToLive(ctx, want.Name, s) })
	}
	return group.Wait()
}

func (t *table) tags(ctx context.Context, arn string) (map[string]string, error) {
	tags := map[string]string{}
	for in := (&dynamodb.ListTagsOfResourceInput{ResourceArn: &arn}); ; {
		out, err := t.api.ListTagsOfResource(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, tag := range out.Tags {
			tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
		if aws.ToString(out.NextToken) == "" {
			return tags, nil
		}
		in.NextToken = out.NextToken
	}
}

func (t *table) backups(ctx context.Context, name string, s *TableState) error {
	out, err := t.api.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	if err != nil {
		return err
	}
	on := false
	if d := out.ContinuousBackupsDescription; d != nil && d.PointInTimeRecoveryDescription != nil {
		on = d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled
	}
	s.PITR = &on
	return nil
}

func (t *table) timeToLive(ctx context.Context, name string, s *TableState) error {
	out, err := t.api.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err == nil {
		s.TTL = fromTTL(out.TimeToLiveDescription)
	}
	return err
}
