// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// table is an AWS that answers each call with the same text.
type table struct {
	text  string
	calls int
}

// Do implements aws.HTTPClient.
func (a *table) Do(r *http.Request) (*http.Response, error) {
	a.calls++
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.text)), Request: r}, nil
}

const described = `{"Table": {"TableName": "orders", "TableStatus": "ACTIVE", "CreationDateTime": 1.7e9, "ItemCount": 3, "DeletionProtectionEnabled": false,
	"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
	"Replicas": [{"RegionName": "eu-west-1", "ReplicaStatus": "ACTIVE"}, {"RegionName": "us-east-1"}],
	"GlobalSecondaryIndexes": [{"IndexName": "by-day", "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}]}, {"IndexName": "by-name"}]}}`

// recorded reads a table with read, and returns the recording and the AWS.
func recorded(t *testing.T, read func(*types.TableDescription) Result) (*Recording, *table, func(context.Context) Result) {
	t.Helper()
	server := &table{text: described}
	api := dynamodb.NewFromConfig(Instrument(aws.Config{Region: "eu-west-1", HTTPClient: server,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}))
	whole := func(ctx context.Context) Result {
		out, err := api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
		if err != nil {
			return Failed(err.Error())
		}
		return read(out.Table)
	}
	r := &Recording{}
	whole(r.Record(t.Context()))
	return r, server, whole
}

func pathsOf(members []Member) (out []string) {
	for _, m := range members {
		out = append(out, m.Path)
	}
	return out
}

// names reads the names of the table, its status and the names of its first index's keys.
func names(d *types.TableDescription) Result {
	out := Result{"name": aws.ToString(d.TableName), "status": string(d.TableStatus)}
	for _, k := range d.KeySchema {
		out["key/"+*k.AttributeName] = string(k.KeyType)
	}
	if len(d.GlobalSecondaryIndexes) > 0 {
		for _, k := range d.GlobalSecondaryIndexes[0].KeySchema {
			out["index/"+*k.AttributeName] = string(k.KeyType)
		}
	}
	return out
}

func TestUnread_FindsMembersThatChangeNothing(t *testing.T) {
	r, server, read := recorded(t, names)
	unread, err := r.Unread(t.Context(), read)
	want := []string{"Table.GlobalSecondaryIndexes[by-day].IndexName", "Table.GlobalSecondaryIndexes[by-name]", "Table.ItemCount",
		"Table.Replicas"}
	if got := pathsOf(unread); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if last := unread[len(unread)-1]; last.Operation != "dynamodb.DescribeTable" || len(last.Leaves) != 3 ||
		last.Leaves[0].Path != "Table.Replicas[eu-west-1].RegionName" ||
		last.Leaves[0].Plain != "Table.Replicas.RegionName" || last.Leaves[0].Value != "eu-west-1" {
		t.Errorf("%+v", last)
	}
	if server.calls != 1 {
		t.Errorf("AWS was called %d times", server.calls)
	}
}

func TestUnread_TakesAPanicOrAnErrorForARead(t *testing.T) {
	r, _, read := recorded(t, func(d *types.TableDescription) Result {
		if *d.ItemCount == 4 {
			return Failed("four")
		}
		return Result{"all": ""}
	})
	unread, err := r.Unread(t.Context(), read)
	if got := pathsOf(unread); err != nil || slices.Contains(got, "Table.ItemCount") || !slices.Contains(got, "Table.Replicas") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestUnread_RefusesAResultThatIsNeverTheSame(t *testing.T) {
	n := 0
	r, _, read := recorded(t, func(*types.TableDescription) Result { n++; return Result{"n": strings.Repeat("x", n)} })
	if _, err := r.Unread(t.Context(), read); err == nil {
		t.Error("no error")
	}
}

func TestUnreadIfFilled_NamesWhatAWSMayAnswer(t *testing.T) {
	r, _, read := recorded(t, names)
	got := pathsOf(r.UnreadIfFilled(t.Context(), read))
	for path, want := range map[string]bool{"Table.SSEDescription": true, "Table.Replicas[eu-west-1].KMSMasterKeyId": true,
		"Table.Replicas": false, "Table.TableName": false, "Table.DeletionProtectionEnabled": true} {
		if slices.Contains(got, path) != want {
			t.Errorf("%s: %v, in %q", path, !want, got)
		}
	}
}

func TestReplay_AnswersNothingElse(t *testing.T) {
	r, _, _ := recorded(t, names)
	api := dynamodb.NewFromConfig(Instrument(aws.Config{Region: "eu-west-1"}))
	if _, err := api.DescribeTable(r.replay(t.Context(), "", nil),
		&dynamodb.DescribeTableInput{TableName: aws.String("other")}); !errors.Is(err, errNotRecorded) {
		t.Errorf("%v", err)
	}
}

func TestDeepCopy_SharesNothing(t *testing.T) {
	now := time.Now()
	from := &dynamodb.DescribeTableOutput{Table: &types.TableDescription{TableName: aws.String("a"), CreationDateTime: &now,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id")}}}}
	to := deepCopy(from).(*dynamodb.DescribeTableOutput)
	*to.Table.TableName, *to.Table.KeySchema[0].AttributeName = "b", "other"
	if *from.Table.TableName != "a" || *from.Table.KeySchema[0].AttributeName != "id" || !to.Table.CreationDateTime.Equal(now) {
		t.Errorf("%+v", from.Table)
	}
}

func TestReplay_EditsCopiesOfTheAnswersWithoutAWS(t *testing.T) {
	r, server, read := recorded(t, names)
	edited := read(r.Replay(t.Context(), func(operation string, output any) {
		if d := output.(*dynamodb.DescribeTableOutput); operation == "dynamodb.DescribeTable" {
			d.Table.TableStatus = "TOMORROW"
		}
	}))
	if again := read(r.Replay(t.Context(), nil)); edited["status"] != "TOMORROW" || again["status"] != "ACTIVE" || server.calls != 1 {
		t.Errorf("edited %v, again %v, %d calls", edited, again, server.calls)
	}
}

func TestReplay_FailsForWhatWasNotRecorded(t *testing.T) {
	r, server, _ := recorded(t, names)
	api := dynamodb.NewFromConfig(Instrument(aws.Config{Region: "eu-west-1", HTTPClient: server,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}))
	if _, err := api.DeleteTable(r.Replay(t.Context(), nil), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); !errors.Is(err,
		errNotRecorded) || server.calls != 1 {
		t.Errorf("%v, %d calls", err, server.calls)
	}
}
