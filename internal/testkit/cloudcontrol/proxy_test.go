// SPDX-License-Identifier: Apache-2.0

package cloudcontrol_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	taggingtypes "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

// Behind the proxy, requests have names, can be broken, and reads lag, as those of every other service.
func TestDouble_KeepsTheLedgerTheFaultsAndTheLag(t *testing.T) {
	p, b := world.Shared(t).AWS(), newBench(t)
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	p.Divert("cloudformation", b.double)
	b.client = api.NewFromConfig(aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(p.URL()),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", "")})
	p.Fault(emulator.At("cloudformation.CreateResource("+stream+")#1"), emulator.LoseAnswer())
	if _, err := b.create(stream, "token", `{"Name":"events"}`); err == nil {
		t.Error("the answer was not lost")
	}
	if again, err := b.create(stream, "token", `{"Name":"events"}`); err != nil || again.OperationStatus != types.OperationStatusSuccess {
		t.Errorf("the request was not repeated: %+v, %v", again, err)
	}
	p.SetLag(emulator.Lag{Settings: emulator.ForReads(1), NotFound: emulator.NotFoundLag{AfterCreate: emulator.ForReads(1)}})
	before := b.get(stream, "events")["RetentionPeriodHours"]
	if _, err := b.update(stream, "events", `[{"op":"add","path":"/RetentionPeriodHours","value":48}]`); err != nil {
		t.Fatal(err)
	}
	if now := b.get(stream, "events")["RetentionPeriodHours"]; now != before {
		t.Errorf("the first read after the update does not lag: %v", now)
	}
	if now := b.get(stream, "events")["RetentionPeriodHours"]; now != 48.0 {
		t.Errorf("the second read lags: %v", now)
	}
	b.mustCreate(stream, `{"Name":"others"}`)
	if b.get(stream, "others") != nil || b.get(stream, "others") == nil {
		t.Error("the first read after the creation does not lag, or the second does")
	}
	if n := p.Calls().Match("cloudformation", "GetResource", stream+"/events").Count(); n != 3 {
		t.Errorf("%d reads:\n%s", n, p.Calls())
	}
}

// The resources of the double and those of the emulator are found by one search for tags.
func TestDouble_ResourcesAreListedBesideThoseOfTheEmulator(t *testing.T) {
	p, b := world.Shared(t).AWS(), newBench(t)
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	p.Tag.ListTagged(b.double.Tagging())
	config := aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(p.URL()),
		Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", "")}
	tags := map[string]string{"team": "a"}
	if _, err := sqs.NewFromConfig(config).CreateQueue(t.Context(),
		&sqs.CreateQueueInput{QueueName: aws.String("orders"), Tags: tags}); err != nil {
		t.Fatal(err)
	}
	b.mustCreate(stream, `{"Name":"events","Tags":[{"Key":"team","Value":"a"}]}`)
	b.mustCreate(stream, `{"Name":"others","Tags":[{"Key":"team","Value":"b"}]}`)
	out, err := tagging.NewFromConfig(config).GetResources(t.Context(),
		&tagging.GetResourcesInput{TagFilters: []taggingtypes.TagFilter{{Key: aws.String("team"), Values: []string{"a"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, r := range out.ResourceTagMappingList {
		found = append(found, (*r.ResourceARN)[strings.LastIndexAny(*r.ResourceARN, ":/")+1:])
	}
	if slices.Sort(found); !slices.Equal(found, []string{"events", "orders"}) {
		t.Errorf("%v", found)
	}
}

func TestDouble_IdentifierIsKnownWhenItIsAssigned(t *testing.T) {
	b := newBench(t)
	b.double.SetDuration(time.Hour)
	event := b.mustCreate(prefixList, `{"PrefixListName":"office","AddressFamily":"IPv4"}`)
	if event.Identifier != nil {
		t.Errorf("the identifier is known before AWS assigns it: %s", *event.Identifier)
	}
	b.now = b.now.Add(time.Hour)
	if done := b.status(event); done.Identifier == nil {
		t.Errorf("%+v", done)
	}
	missing := (*types.ResourceNotFoundException)(nil)
	if _, err := b.update(prefixList, "pl-0", `[]`); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}
