// SPDX-License-Identifier: Apache-2.0

package cloudcontrol_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cloudformationtypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

const (
	stream     = "AWS::Kinesis::Stream"
	prefixList = "AWS::EC2::PrefixList"
	filter     = "AWS::Logs::MetricFilter"
)

// bench is a double with its clock and a client.
type bench struct {
	*testing.T
	double *cloudcontrol.Double
	client *api.Client
	config aws.Config
	now    time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	schemas, err := awstypes.Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	b.double = cloudcontrol.New("123456789012", schemas, func() time.Time { return b.now })
	server := httptest.NewServer(b.double)
	t.Cleanup(func() {
		server.Close()
		_ = schemas.Close()
	})
	b.config = aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", "")}
	b.client = api.NewFromConfig(b.config)
	return b
}

// create sends a request and returns its progress event.
func (b *bench) create(typeName, token, state string) (*types.ProgressEvent, error) {
	in := &api.CreateResourceInput{TypeName: &typeName, DesiredState: &state}
	if token != "" {
		in.ClientToken = &token
	}
	out, err := b.client.CreateResource(b.Context(), in)
	if err != nil {
		return nil, err
	}
	return out.ProgressEvent, nil
}

func (b *bench) mustCreate(typeName, state string) *types.ProgressEvent {
	b.Helper()
	event, err := b.create(typeName, "", state)
	if err != nil {
		b.Fatal(err)
	}
	return event
}

func (b *bench) update(typeName, identifier, patch string) (*types.ProgressEvent, error) {
	out, err := b.client.UpdateResource(b.Context(),
		&api.UpdateResourceInput{TypeName: &typeName, Identifier: &identifier, PatchDocument: &patch})
	if err != nil {
		return nil, err
	}
	return out.ProgressEvent, nil
}

func (b *bench) remove(typeName, identifier string) (*types.ProgressEvent, error) {
	out, err := b.client.DeleteResource(b.Context(), &api.DeleteResourceInput{TypeName: &typeName, Identifier: &identifier})
	if err != nil {
		return nil, err
	}
	return out.ProgressEvent, nil
}

func (b *bench) status(event *types.ProgressEvent) *types.ProgressEvent {
	b.Helper()
	out, err := b.client.GetResourceRequestStatus(b.Context(), &api.GetResourceRequestStatusInput{RequestToken: event.RequestToken})
	if err != nil {
		b.Fatal(err)
	}
	return out.ProgressEvent
}

// get returns the properties that AWS shows; nil for a resource that does not exist.
func (b *bench) get(typeName, identifier string) map[string]any {
	b.Helper()
	out, err := b.client.GetResource(b.Context(), &api.GetResourceInput{TypeName: &typeName, Identifier: &identifier})
	if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	var properties map[string]any
	if err := json.Unmarshal([]byte(*out.ResourceDescription.Properties), &properties); err != nil {
		b.Fatal(err)
	}
	return properties
}

// refused asserts the code of an error.
func (b *bench) refused(what string, err error, code string) {
	b.Helper()
	var failure smithy.APIError
	if !errors.As(err, &failure) || failure.ErrorCode() != code {
		b.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestDouble_ResourceByNameLivesItsLife(t *testing.T) {
	b := newBench(t)
	event := b.mustCreate(stream,
		`{"Name":"events","RetentionPeriodHours":48,"WarmThroughputMiBps":5,"DesiredShardLevelMetrics":["IncomingBytes","OutgoingBytes"]}`)
	if event.OperationStatus != types.OperationStatusSuccess || *event.Identifier != "events" {
		t.Fatalf("%+v", event)
	}
	have := b.get(stream, "events")
	mode, _ := have["StreamModeDetails"].(map[string]any)
	if have["Arn"] != "arn:aws:kinesis:us-east-1:123456789012:stream/events" || mode["StreamMode"] != "PROVISIONED" {
		t.Errorf("no ARN or no default: %v", have)
	}
	if _, shown := have["WarmThroughputMiBps"]; shown {
		t.Errorf("a property that can only be written is shown: %v", have)
	}
	if list, _ := have["DesiredShardLevelMetrics"].([]any); !slices.Equal(list, []any{"OutgoingBytes", "IncomingBytes"}) {
		t.Errorf("a list without an order has one: %v", list)
	}
	if _, err := b.update(stream, "events", `[{"op":"replace","path":"/RetentionPeriodHours","value":24}]`); err != nil {
		t.Fatal(err)
	}
	if have := b.get(stream, "events"); have["RetentionPeriodHours"] != 24.0 {
		t.Errorf("%v", have)
	}
	if _, hidden := b.double.Properties(stream, "events")["WarmThroughputMiBps"]; hidden {
		t.Error("an update that does not name a property that can only be written keeps it")
	}
	if _, err := b.remove(stream, "events"); err != nil || b.get(stream, "events") != nil {
		t.Errorf("not deleted: %v", err)
	}
	if event, err := b.remove(stream, "events"); err != nil || event.ErrorCode != types.HandlerErrorCodeNotFound {
		t.Errorf("deleting what is gone: %+v, %v", event, err)
	}
}

func TestDouble_AssignsIdentifiers(t *testing.T) {
	b := newBench(t)
	const state = `{"PrefixListName":"office","AddressFamily":"IPv4","MaxEntries":5}`
	first, second := b.mustCreate(prefixList, state), b.mustCreate(prefixList, state)
	if *first.Identifier == *second.Identifier || b.get(prefixList, *first.Identifier)["PrefixListId"] != *first.Identifier {
		t.Errorf("%s, %s", *first.Identifier, *second.Identifier)
	}
	of := b.mustCreate(filter,
		`{"LogGroupName":"g","FilterName":"f","FilterPattern":"","MetricTransformations":[{"MetricName":"m","MetricNamespace":"n","MetricValue":"1"}]}`)
	if *of.Identifier != "g|f" {
		t.Errorf("the parts of an identifier: %s", *of.Identifier)
	}
}

func TestDouble_RefusesWhatTheSchemaRefuses(t *testing.T) {
	b := newBench(t)
	for what, state := range map[string]string{
		"a required property is missing": `{"AddressFamily":"IPv4"}`,
		"not in the list of values":      `{"PrefixListName":"x","AddressFamily":"IPv5"}`,
		"an unknown property":            `{"PrefixListName":"x","AddressFamily":"IPv4","Color":"red"}`,
		"a property that is read only":   `{"PrefixListName":"x","AddressFamily":"IPv4","Version":7}`,
	} {
		_, err := b.create(prefixList, "", state)
		b.refused(what, err, "ValidationException")
	}
	b.mustCreate(stream, `{"Name":"events"}`)
	for patch, code := range map[string]string{
		`[{"op":"replace","path":"/Name","value":"others"}]`:       "NotUpdatableException",
		`[{"op":"add","path":"/RetentionPeriodHours","value":0}]`:  "ValidationException",
		`[{"op":"replace","path":"/Arn","value":"arn:aws:other"}]`: "ValidationException",
		// noSuchPath: github.com/pulumi/pulumi-aws-native/issues/277
		`[{"op":"replace","path":"/RetentionPeriodHours","value":"x"}]`: "ValidationException",
	} {
		_, err := b.update(stream, "events", patch)
		b.refused(patch, err, code)
	}
	if event, err := b.create(stream, "", `{"Name":"events"}`); err != nil || event.ErrorCode != types.HandlerErrorCodeAlreadyExists {
		t.Errorf("a name that is taken: %+v, %v", event, err)
	}
	_, err := b.create("AWS::No::Type", "", `{}`)
	b.refused("a type that does not exist", err, "TypeNotFoundException")
	_, err = b.update(stream, "nothing", `[]`)
	b.refused("an update of nothing", err, "ResourceNotFoundException")
}

func TestDouble_RequestsTakeTheirTime(t *testing.T) {
	b := newBench(t)
	b.double.SetDuration(time.Minute)
	event := b.mustCreate(stream, `{"Name":"events"}`)
	if event.OperationStatus != types.OperationStatusInProgress || event.RetryAfter == nil || b.get(stream, "events") != nil {
		t.Fatalf("%+v", event)
	}
	_, err := b.create(stream, "", `{"Name":"events"}`)
	b.refused("a second request meanwhile", err, "ConcurrentOperationException")
	b.now = b.now.Add(time.Minute)
	if now := b.status(event); now.OperationStatus != types.OperationStatusSuccess || b.get(stream, "events") == nil {
		t.Errorf("%+v", now)
	}
	canceled := b.mustCreate(stream, `{"Name":"others"}`)
	if _, err := b.client.CancelResourceRequest(t.Context(),
		&api.CancelResourceRequestInput{RequestToken: canceled.RequestToken}); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(time.Hour)
	if now := b.status(canceled); now.OperationStatus != types.OperationStatusCancelComplete || b.get(stream, "others") != nil {
		t.Errorf("%+v", now)
	}
	_, err = b.client.GetResourceRequestStatus(t.Context(), &api.GetResourceRequestStatusInput{RequestToken: aws.String("none")})
	b.refused("a request that was never made", err, "RequestTokenNotFoundException")
}

func TestDouble_KnowsClientTokensFor36Hours(t *testing.T) {
	b := newBench(t)
	const state = `{"PrefixListName":"office","AddressFamily":"IPv4"}`
	first, err := b.create(prefixList, "token-1", state)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.create(prefixList, "token-1", state); err != nil || *again.Identifier != *first.Identifier ||
		*again.RequestToken != *first.RequestToken {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = b.create(prefixList, "token-1", `{"PrefixListName":"home","AddressFamily":"IPv4"}`)
	b.refused("another request with the token", err, "ClientTokenConflictException")
	b.now = b.now.Add(36 * time.Hour)
	if again, err := b.create(prefixList, "token-1", state); err != nil || *again.Identifier == *first.Identifier {
		t.Errorf("%+v, %v", again, err)
	}
	if ids := b.double.Identifiers(prefixList); len(ids) != 2 {
		t.Errorf("%v", ids)
	}
}

func TestDouble_FailsWithEachErrorCode(t *testing.T) {
	b := newBench(t)
	for _, code := range types.HandlerErrorCode("").Values() {
		b.double.Fail("CREATE", cloudcontrol.Failure{Code: string(code), Message: "as asked"})
		event := b.mustCreate(stream, `{"Name":"events"}`)
		if event.OperationStatus != types.OperationStatusFailed || event.ErrorCode != code || *event.StatusMessage != "as asked" ||
			b.get(stream, "events") != nil {
			t.Errorf("%s: %+v", code, event)
		}
	}
	b.double.Fail("CREATE", cloudcontrol.Failure{Code: "NotStabilized", Leaves: true})
	if event := b.mustCreate(stream, `{"Name":"events"}`); event.ErrorCode != types.HandlerErrorCodeNotStabilized ||
		b.get(stream, "events") == nil {
		t.Errorf("%+v", event)
	}
}

func TestDouble_ListsInPages(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"c", "a", "b"} {
		b.mustCreate(stream, `{"Name":"`+name+`"}`)
	}
	var found []string
	pages := api.NewListResourcesPaginator(b.client, &api.ListResourcesInput{TypeName: aws.String(stream), MaxResults: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.ResourceDescriptions {
			found = append(found, *r.Identifier)
		}
	}
	if !slices.Equal(found, []string{"a", "b", "c"}) {
		t.Errorf("%v", found)
	}
}

func TestDouble_DescribesTypes(t *testing.T) {
	b := newBench(t)
	client := cloudformation.NewFromConfig(b.config)
	ask := func(name string) (*cloudformation.DescribeTypeOutput, error) {
		return client.DescribeType(t.Context(),
			&cloudformation.DescribeTypeInput{Type: cloudformationtypes.RegistryTypeResource, TypeName: &name})
	}
	for name, want := range map[string]cloudformationtypes.ProvisioningType{
		stream: cloudformationtypes.ProvisioningTypeFullyMutable, "AWS::AppMesh::Mesh": cloudformationtypes.ProvisioningTypeNonProvisionable,
	} {
		out, err := ask(name)
		if err != nil || out.ProvisioningType != want || !json.Valid([]byte(aws.ToString(out.Schema))) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	_, err := ask("AWS::No::Type")
	b.refused("a type that does not exist", err, "TypeNotFoundException")
	_, err = b.create("AWS::AppMesh::Mesh", "", `{"Spec":{}}`)
	b.refused("a type without handlers", err, "UnsupportedActionException")
}

func TestDouble_ResourceChangesBehindTheClient(t *testing.T) {
	b := newBench(t)
	b.mustCreate(stream, `{"Name":"events","RetentionPeriodHours":48}`)
	for _, value := range []any{72.0, nil} {
		if err := b.double.Set(stream, "events", "RetentionPeriodHours", value); err != nil {
			t.Fatal(err)
		}
		if have := b.get(stream, "events")["RetentionPeriodHours"]; have != value {
			t.Errorf("%v, want %v", have, value)
		}
	}
	if b.double.Set(stream, "none", "Name", "x") == nil {
		t.Error("a resource that does not exist was changed")
	}
}
