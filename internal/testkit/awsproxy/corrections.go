package awsproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"
)

// correction makes up for one deviation of the emulator from AWS. before may
// answer the request in the emulator's place; after may change its answer. The
// requests that they make themselves are not in the ledger.
type correction struct {
	name    string
	service string
	ops     []string // empty: all
	before  func(ctx context.Context, p *Proxy, x *exchange) *answer
	after   func(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer
}

// corrections is the table of all of them, in the order of application.
var corrections = []correction{
	{name: "names that AWS refuses", before: refuseBadName},
	{name: "reads of what was just created", before: notYetVisible},
	{name: "creation is remembered", after: rememberCreation},

	{name: "bucket exists already", service: "s3", ops: []string{"CreateBucket"}, before: noteExistingBucket},
	{name: "defaults and tags of new buckets", service: "s3", ops: []string{"CreateBucket"}, after: finishBucket},
	{name: "default encryption", service: "s3", ops: []string{"GetBucketEncryption"}, after: defaultEncryption},
	{name: "secret in its recovery window", service: "secretsmanager", ops: []string{"CreateSecret"}, after: secretScheduledForDeletion},
	{name: "role to be assumed", service: "sts", ops: []string{"AssumeRole"}, before: checkAssumedRole},

	{name: "tables take their time: changes", service: "dynamodb", before: tableNotReady},
	{name: "tables take their time: states", service: "dynamodb", ops: []string{"CreateTable", "DescribeTable"}, after: tableCreating},

	{name: "crawlers can be updated", service: "glue", ops: []string{"UpdateCrawler"}, before: updateCrawler},
	{name: "operations that do not exist", after: notImplemented},
}

func (c *correction) applies(x *exchange) bool {
	return (c.service == "" || c.service == x.service) && (len(c.ops) == 0 || slices.Contains(c.ops, x.op))
}

// state is what the corrections remember.
type state struct {
	mu       sync.Mutex
	delays   map[string]time.Duration // service → how long reads miss what was just created
	creating time.Duration            // how long DynamoDB tables are CREATING
	created  map[string]time.Time     // account/region/service/resource → when
}

func (s *state) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created, s.delays, s.creating = map[string]time.Time{}, map[string]time.Duration{}, 0
}

// SetEventualConsistency lets reads (not lists) of a resource answer NotFound
// for so long after its creation; the service is an IAM prefix. Zero ends it.
func (p *Proxy) SetEventualConsistency(service string, d time.Duration) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.delays[service] = d
}

// SetTableCreating lets DynamoDB tables be CREATING for so long after their
// creation, during which changes to them are refused as AWS does. Zero ends it.
func (p *Proxy) SetTableCreating(d time.Duration) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.creating = d
}

func (x *exchange) identity() string {
	return x.accessKey + "|" + x.region + "|" + x.service + "|" + x.resource
}

func (s *state) age(x *exchange) (age time.Duration, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.created[x.identity()]
	return time.Since(at), known
}

// rememberCreation notes when a resource was created. The same request again, with the same token, is
// answered like the first and creates nothing.
func rememberCreation(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if a.status >= 300 || x.existed || !isCreation(x) {
		return a
	}
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if token := text(member(x.json, "ClientRequestToken")); token != "" {
		if _, again := p.state.created[x.identity()+"|"+token]; again {
			return a
		}
		p.state.created[x.identity()+"|"+token] = time.Now()
	}
	p.state.created[x.identity()] = time.Now()
	return a
}

func isCreation(x *exchange) bool {
	if x.op == "PutParameter" {
		return x.json["Overwrite"] != true
	}
	return len(x.op) > 6 && x.op[:6] == "Create"
}

// notYetVisible: moto shows at once what was created; AWS may take seconds.
func notYetVisible(_ context.Context, p *Proxy, x *exchange) *answer {
	p.state.mu.Lock()
	delay := p.state.delays[x.service]
	p.state.mu.Unlock()
	if delay == 0 || isWrite(x.op) {
		return nil
	}
	if age, known := p.state.age(x); known && age < delay {
		return errorAnswer(x.request, notFound(x.request))
	}
	return nil
}

// notImplemented: for an operation that it lacks moto answers 500 (REST
// services: 404) with a page of HTML, which clients try again several times and
// then cannot read. AWS has the operation; here the test gets a clear answer at
// once, which no client retries.
func notImplemented(_ context.Context, _ *Proxy, x *exchange, a *answer) *answer {
	page := bytes.Contains(a.body, []byte("<title>500 Internal Server Error</title>")) || bytes.Contains(a.body, []byte("<title>404 Not Found</title>"))
	if a.status != http.StatusInternalServerError && a.status != http.StatusNotFound || !page {
		return a
	}
	return errorAnswer(x.request, awsError{http.StatusNotImplemented, "NotImplemented",
		"the emulator does not implement " + x.service + "." + x.op + ", or has failed in it: see its log"})
}

// ask makes a request of the proxy's own in the account and region of a
// client's request. It does not enter the ledger and needs no rights.
func (p *Proxy) ask(ctx context.Context, x *exchange, method, uri string, header http.Header, body []byte) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, p.backend+uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	r.Header.Set("Authorization", scope(x.accessKey, x.region, x.service))
	return p.privilegedTrip(r)
}

// askJSON calls an operation of a JSON service.
func (p *Proxy) askJSON(ctx context.Context, x *exchange, op string, body any) (*answer, map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, nil, err
	}
	target := x.http.Header.Get("X-Amz-Target")
	header := http.Header{
		"X-Amz-Target": {target[:len(target)-len(x.op)] + op},
		"Content-Type": {x.http.Header.Get("Content-Type")},
	}
	a, err := p.ask(ctx, x, http.MethodPost, "/", header, text)
	if err != nil {
		return nil, nil, err
	}
	parsed := map[string]any{}
	_ = json.Unmarshal(a.body, &parsed)
	return a, parsed, nil
}

// scope is an Authorization header that tells moto account, region and service;
// it checks the signature only while it enforces IAM.
func scope(accessKey, region, service string) string {
	return "AWS4-HMAC-SHA256 Credential=" + accessKey + "/20250101/" + region + "/" + service + "/aws4_request, SignedHeaders=host, Signature=0"
}
