// SPDX-License-Identifier: Apache-2.0

package driftevents

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// MaxBody is the largest message that is read, in bytes: the largest message of SQS was 256 KiB for long, and the events of EventBridge
// still are no larger. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html
const MaxBody = 256 << 10

// HeartbeatSource is the source of heartbeats that a rule on a schedule sends.
const HeartbeatSource = "nexus.ai.heartbeat"

// The largest texts of an event that are kept, in characters. The schema of status.drift has the same bounds.
const (
	maxPrincipal = 512
	maxSource    = 256
	maxName      = 128
	maxEventID   = 64
)

// Kind is the kind of a message.
type Kind int

// The kinds of messages.
const (
	// Change is a request that changed something, as CloudTrail recorded it.
	Change Kind = iota
	// Heartbeat shows that events arrive from an account and region.
	Heartbeat
	// Ineffective is a request that changed nothing: one that only reads, or that failed.
	Ineffective
)

// Event is a message of the queue.
type Event struct {
	Kind Kind
	// Account and Region are where the request was made.
	Account, Region string
	// Time is the time of the request.
	Time time.Time
	// Service is the first part of CloudTrail's eventSource, such as s3, and Name the operation.
	Service, Name string
	// Principal is the ARN of the identity, or the AWS service, that made the request, and Source the address that it came from.
	Principal, Source string
	// ID is the ID of the event in CloudTrail, and RequestID the ID that the client got with the answer.
	ID, RequestID string
	// Names are the identifiers of resources in the event.
	Names Names
}

// ErrTooLarge is the error of a message above MaxBody.
var ErrTooLarge = errors.New("the message is larger than an event can be")

// ErrMalformed is the error of a message that is no event of EventBridge with the needed fields.
var ErrMalformed = errors.New("the message is no event of CloudTrail and no heartbeat")

// envelope is an event of EventBridge: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html
type envelope struct {
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Region     string          `json:"region"`
	Time       time.Time       `json:"time"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// record is a record of CloudTrail:
// https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html
type record struct {
	EventTime        time.Time `json:"eventTime"`
	EventSource      string    `json:"eventSource"`
	EventName        string    `json:"eventName"`
	AWSRegion        string    `json:"awsRegion"`
	SourceIPAddress  string    `json:"sourceIPAddress"`
	ErrorCode        string    `json:"errorCode"`
	RequestID        string    `json:"requestID"`
	EventID          string    `json:"eventID"`
	ReadOnly         any       `json:"readOnly"`
	RecipientAccount string    `json:"recipientAccountId"`
	UserIdentity     struct {
		Type        string `json:"type"`
		PrincipalID string `json:"principalId"`
		ARN         string `json:"arn"`
		AccountID   string `json:"accountId"`
		InvokedBy   string `json:"invokedBy"`
	} `json:"userIdentity"`
	RequestParameters any `json:"requestParameters"`
	ResponseElements  any `json:"responseElements"`
	Resources         any `json:"resources"`
}

// The forms of fields that decide which objects an event may be about.
var (
	accountForm   = regexp.MustCompile(`^[0-9]{12}$`)
	regionForm    = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$`)
	serviceForm   = regexp.MustCompile(`^([a-z0-9-]{1,64})\.amazonaws\.com(\.cn)?$`)
	operationForm = regexp.MustCompile(`^[A-Za-z0-9_]{1,128}$`)
)

// detailTypes are the detail types of events that report changes: calls of the API, actions in the console that are no calls, and changes
// that AWS services make.
var detailTypes = map[string]bool{"AWS API Call via CloudTrail": true, "AWS Console Action via CloudTrail": true,
	"AWS Service Event via CloudTrail": true}

// Parse reads a message. The error is ErrTooLarge or ErrMalformed, and never contains text of the message.
func Parse(body string) (Event, error) {
	if len(body) > MaxBody {
		return Event{}, ErrTooLarge
	}
	var e envelope
	if err := json.Unmarshal([]byte(body), &e); err != nil || !accountForm.MatchString(e.Account) || !regionForm.MatchString(e.Region) {
		return Event{}, ErrMalformed
	}
	if isHeartbeat(e) && !e.Time.IsZero() {
		return Event{Kind: Heartbeat, Account: e.Account, Region: e.Region, Time: e.Time}, nil
	}
	if !detailTypes[e.DetailType] {
		return Event{}, ErrMalformed
	}
	var r record
	if err := json.Unmarshal(e.Detail, &r); err != nil {
		return Event{}, ErrMalformed
	}
	return change(e, r)
}

// isHeartbeat reports whether an event comes from a rule on a schedule, or is one that was put on the bus for a test.
func isHeartbeat(e envelope) bool {
	return e.Source == "aws.events" && e.DetailType == "Scheduled Event" || e.Source == HeartbeatSource
}

func change(e envelope, r record) (Event, error) {
	source := serviceForm.FindStringSubmatch(r.EventSource)
	account, region := cmp.Or(r.RecipientAccount, e.Account), cmp.Or(r.AWSRegion, e.Region)
	if source == nil || !operationForm.MatchString(r.EventName) || account != e.Account || region != e.Region || r.EventTime.IsZero() {
		return Event{}, ErrMalformed
	}
	out := Event{Kind: Change, Account: account, Region: region, Time: r.EventTime, Service: serviceOf(source[1]),
		Name:      Printable(r.EventName, maxName),
		Principal: Printable(principalOf(r), maxPrincipal), Source: Printable(r.SourceIPAddress, maxSource),
		ID: Printable(r.EventID, maxEventID), RequestID: Printable(r.RequestID, maxName)}
	if r.ErrorCode != "" || r.ReadOnly == true || r.ReadOnly == "true" {
		out.Kind = Ineffective
		return out, nil
	}
	out.Names = namesIn(r.RequestParameters, r.ResponseElements, r.Resources, e.Resources)
	return out, nil
}

// principalOf returns who made a request, as precisely as the record says.
func principalOf(r record) string {
	id := r.UserIdentity
	return cmp.Or(id.ARN, id.InvokedBy, id.PrincipalID, id.AccountID, id.Type, "unknown")
}

// eventSources translates the services of CloudTrail to the prefixes of IAM and of ARNs where they differ.
var eventSources = map[string]string{
	"monitoring": "cloudwatch", "tagging": "tag", "cloudcontrolapi": "cloudformation", "application-autoscaling": "application-autoscaling",
	"email": "ses",
}

func serviceOf(source string) string { return cmp.Or(eventSources[source], source) }

// Printable returns a text without characters that change how it is displayed, cut to a number of characters.
func Printable(text string, most int) string {
	var out strings.Builder
	n := 0
	for _, c := range text {
		if n == most {
			break
		}
		if !unicode.IsPrint(c) || unicode.Is(unicode.Cf, c) {
			c = '?'
		}
		out.WriteRune(c)
		n++
	}
	return out.String()
}

// globalRegions are the regions of CloudTrail's records about services without a region, by the first part of the name of a region.
var globalRegions = []struct{ prefix, region string }{{"cn-", "cn-north-1"}, {"us-gov-", "us-gov-west-1"}, {"", "us-east-1"}}

// globalServices are the services with calls that CloudTrail records in one region:
// https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-concepts.html#cloudtrail-concepts-global-service-events
var globalServices = map[string]bool{"iam": true, "route53": true, "cloudfront": true, "organizations": true, "globalaccelerator": true}

// RegionOf returns the region of CloudTrail's records of the calls of a service about a resource of a region.
func RegionOf(service, region string) string {
	if !globalServices[service] {
		return region
	}
	for _, g := range globalRegions {
		if strings.HasPrefix(region, g.prefix) {
			return g.region
		}
	}
	return region
}
