// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestADroppedRequestHasNoEffect(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	rule := p.Fault(emulator.At("dynamodb.CreateTable(orders)#1"), emulator.DropBefore())
	if err := createTable(t.Context(), c, "orders"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("want a reset connection, got %v", err)
	}
	if tableExists(t.Context(), c, "orders") {
		t.Error("the table exists")
	}
	must.Succeed(t, createTable(t.Context(), c, "orders"))
	if rule.Hits() != 1 {
		t.Errorf("%d hits", rule.Hits())
	}
	got := p.Calls().Match("dynamodb", "CreateTable", "")
	if got[0].Fault != "dropped before" || got[0].Status != 0 || got[0].N != 1 || got[1].N != 2 || got[1].Status != 200 {
		t.Errorf("ledger:\n%s", got)
	}
}

func TestARuleCanBeAboutOneAccessKey(t *testing.T) {
	p := proxy(t)
	rule := p.Fault(emulator.Match{Service: "sts", AccessKey: "AKIASICK"}, emulator.Throttle())
	ask := func(key string) string {
		_, err := sts.NewFromConfig(aws.Config{Region: region, BaseEndpoint: aws.String(p.URL()),
			Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
			Credentials: credentials.NewStaticCredentialsProvider(key, "b", "")}).GetCallerIdentity(t.Context(), nil)
		return code(err)
	}
	if sick, well := ask("AKIASICK"), ask("AKIAWELL"); sick == "" || well != "" || rule.Hits() != 1 {
		t.Errorf("%q for the one, %q for the other, %d hits", sick, well, rule.Hits())
	}
}

func TestALostAnswerLeavesTheEffect(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	p.Fault(emulator.At("dynamodb.CreateTable(orders)#1"), emulator.LoseAnswer())
	if err := createTable(t.Context(), c, "orders"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("want a reset connection, got %v", err)
	}
	if !tableExists(t.Context(), c, "orders") {
		t.Error("the table does not exist")
	}
	if first := p.Calls()[0]; first.Status != 200 || first.Fault != "answer lost" {
		t.Errorf("ledger: %s", first)
	}
}

func TestATruncatedAnswerCannotBeRead(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	p.Fault(emulator.At("dynamodb.CreateTable(*)#1"), emulator.Truncate())
	if err := createTable(t.Context(), c, "orders"); err == nil {
		t.Error("no error")
	}
	if !tableExists(t.Context(), c, "orders") {
		t.Error("the table does not exist")
	}
}

func TestErrorsComeInTheProtocolOfTheService(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	p.Fault(emulator.Match{}, emulator.Fail(http.StatusForbidden, "AccessDeniedException", `no <"right">`))
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"s3":             func() error { return createBucket(ctx, c, "some-bucket") },
		"dynamodb":       func() error { return createTable(ctx, c, "orders") },
		"iam":            func() error { return createRole(ctx, c, "r", trustAll) },
		"sts":            func() error { _, err := c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}); return err },
		"glue":           func() error { _, err := c.glue.GetDatabases(ctx, &glue.GetDatabasesInput{}); return err },
		"ssm":            func() error { _, err := c.ssm.DescribeParameters(ctx, &ssm.DescribeParametersInput{}); return err },
		"secretsmanager": func() error { _, err := c.secrets.ListSecrets(ctx, &secretsmanager.ListSecretsInput{}); return err },
	} {
		if err := call(); code(err) != "AccessDeniedException" || !strings.Contains(err.Error(), `no <"right">`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, call := range p.Calls() {
		if call.Error != "AccessDeniedException" || call.Status != http.StatusForbidden {
			t.Errorf("ledger: %s", call)
		}
	}
}

func TestThrottlingLooksAsItDoesAtEachService(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	p.Fault(emulator.Match{}, emulator.Throttle())
	if got := code(createBucket(t.Context(), c, "some-bucket")); got != "SlowDown" {
		t.Errorf("s3: %s", got)
	}
	if got := code(createTable(t.Context(), c, "orders")); got != "ThrottlingException" {
		t.Errorf("dynamodb: %s", got)
	}
	if got := code(createRole(t.Context(), c, "r", trustAll)); got != "Throttling" {
		t.Errorf("iam: %s", got)
	}
}

func TestAStormHitsItsShareOfTheRequests(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	rule := p.Fault(emulator.Match{Service: "sts", Percent: 75}, emulator.Throttle())
	for range 8 {
		c.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	}
	if rule.Hits() != 6 || p.Calls().Failed().Count() != 6 {
		t.Errorf("%d hits\n%s", rule.Hits(), p.Calls())
	}
}

func TestARuleEndsAfterItsTimesAndWhenRemoved(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	p.Fault(emulator.Match{Service: "sts", Times: 2}, emulator.Throttle())
	other := p.Fault(emulator.Match{Service: "iam", WritesOnly: true}, emulator.Throttle())
	for range 3 {
		c.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		c.iam.ListRoles(t.Context(), &iam.ListRolesInput{})
	}
	if got := p.Calls().Failed().Count(); got != 2 {
		t.Errorf("%d failed", got)
	}
	other.Remove()
	must.Succeed(t, createRole(t.Context(), c, "r", trustAll))
}

func TestADelayedRequestTakesEffectLate(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	p.Fault(emulator.At("dynamodb.CreateTable(*)"), emulator.Delay(100*time.Millisecond))
	begin := time.Now()
	must.Succeed(t, createTable(t.Context(), c, "orders"))
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

func TestLatency_MakesEveryAnswerLate(t *testing.T) {
	p := proxy(t)
	p.SetLatency(100 * time.Millisecond)
	t.Cleanup(func() { p.SetLatency(0) })
	begin := time.Now()
	must.Succeed(t, createTable(t.Context(), clientsOf(p.URL()), "orders"))
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

func TestAHeldRequestWaitsForItsRelease(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	rule := p.Fault(emulator.At("dynamodb.CreateTable(*)"), emulator.Hang())
	done := make(chan error, 1)
	go func() { done <- createTable(context.Background(), c, "orders") }()
	for rule.Hits() == 0 {
		time.Sleep(time.Millisecond)
	}
	if tableExists(t.Context(), c, "orders") {
		t.Error("a held request had its effect")
	}
	rule.Release()
	must.Succeed(t, <-done)
}

func TestAKilledClientsLateRequestsHaveNoEffect(t *testing.T) {
	p := proxy(t)
	for _, tt := range []struct {
		name   string
		action func(kill func()) emulator.Action
		effect bool
	}{
		{"before", emulator.BeforeThen, false},
		{"after", emulator.ForwardThen, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Succeed(t, p.Reset())
			endpoint, err := p.Listen("victim")
			must.Succeed(t, err)
			var killed atomic.Bool
			p.Fault(emulator.Match{Endpoint: "victim", Op: "CreateTable", Nth: 1}, tt.action(func() {
				must.Succeed(t, endpoint.Close())
				killed.Store(true)
			}))
			victim := clientsOf(endpoint.URL())
			if err := createTable(t.Context(), victim, "orders"); err == nil {
				t.Error("the victim got an answer")
			}
			for !killed.Load() {
				time.Sleep(time.Millisecond)
			}
			if err := createTable(t.Context(), victim, "late"); err == nil {
				t.Error("a killed endpoint answered")
			}
			c := clientsOf(p.URL())
			if got := tableExists(t.Context(), c, "orders"); got != tt.effect {
				t.Errorf("table exists: %v", got)
			}
			if tableExists(t.Context(), c, "late") {
				t.Error("a late request had its effect")
			}
			if got := p.Calls().From("victim").Count(); got != 1 {
				t.Errorf("%d calls of the victim", got)
			}
		})
	}
}

func TestAHeldRequestOfAClosedEndpointNeverStarts(t *testing.T) {
	p := proxy(t)
	endpoint, err := p.Listen("victim")
	must.Succeed(t, err)
	rule := p.Fault(emulator.At("dynamodb.CreateTable(*)"), emulator.Hang())
	done := make(chan error, 1)
	go func() { done <- createTable(context.Background(), clientsOf(endpoint.URL()), "orders") }()
	for rule.Hits() == 0 {
		time.Sleep(time.Millisecond)
	}
	must.Succeed(t, endpoint.Close())
	rule.Release()
	if err := <-done; err == nil {
		t.Error("no error")
	}
	time.Sleep(20 * time.Millisecond) // a request that takes effect late gives no signal
	if tableExists(t.Context(), clientsOf(p.URL()), "orders") {
		t.Error("the request had its effect")
	}
}

func TestTheLedgerTellsWhoAskedWhat(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	must.Succeed(t, createBucket(t.Context(), c, "some-bucket"))
	mark := p.Mark()
	c.s3.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("some-bucket")})
	c.s3.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("other-bucket")})
	first := p.Calls()[0]
	if first.Address() != "s3.CreateBucket(some-bucket)#1" || first.Region != region || first.AccessKey != "AKIDTEST" ||
		first.Endpoint != "main" ||
		!strings.Contains(first.UserAgent, "aws-sdk-go-v2") || first.Duration == 0 || !strings.Contains(first.Body, "LocationConstraint") {
		t.Errorf("%+v", first)
	}
	since := p.Since(mark)
	if since.Count() != 2 || since.Writes().Count() != 0 || since.Failed().Count() != 1 || since.Match("s3", "Head*", "other-*").Count() != 1 {
		t.Errorf("since the mark:\n%s", since)
	}
	if table := since.String(); !strings.Contains(table, "s3.HeadBucket(other-bucket)#1") || strings.Count(table, "\n") != 1 {
		t.Errorf("table:\n%s", table)
	}
	answer, err := http.Get(p.URL() + "/_ledger")
	must.Succeed(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.Succeed(t, err)
	var calls []emulator.Call
	if err := json.Unmarshal(text, &calls); err != nil || len(calls) != 3 || calls[0].Op != "CreateBucket" || calls[0].Body != "" {
		t.Errorf("%s, %v", text, err)
	}
}
