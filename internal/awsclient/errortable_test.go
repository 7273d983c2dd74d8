// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// failed builds the error that an SDK client returns.
func failed(service, operation, code, message string, status int) error {
	var err error = &smithy.GenericAPIError{Code: code, Message: message}
	if status != 0 {
		err = &awshttp.ResponseError{RequestID: "4442587f-f4ca-4a30", ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: http.Header{}}}, Err: err,
		}}
	}
	return &smithy.OperationError{ServiceID: service, OperationName: operation, Err: err}
}

// answer is an error that AWS answers with, and its class.
type answer struct {
	service, operation, code, message string
	status                            int
	want                              Class
}

// answers holds answers of AWS with their classes: at least one for every row of the table.
var answers = slices.Concat(kindAnswers, commonAnswers)

// commonAnswers come from services that no kind calls. All others stand in errors.go of the folders of the kinds.
var commonAnswers = []answer{
	{"EventBridge", "DescribeRule", "ResourceNotFoundException", "Rule x does not exist on EventBus default.", 400, NotFound},
	{"EventBridge", "PutRule", "ManagedRuleException", "This rule was created by an AWS service on behalf of your account.", 400, Invalid},
	{"EventBridge", "PutRule", "ConcurrentModificationException", "", 400, Transient},
	{"EventBridge", "PutRule", "LimitExceededException", "", 400, Limit},
	{"Resource Groups Tagging API", "GetResources", "PaginationTokenExpiredException", "", 400, Transient},
	{"STS", "AssumeRole", "AccessDenied", "", 403, Denied},
	{"STS", "AssumeRole", "ExpiredToken", "", 403, Expired},
	{"STS", "AssumeRoleWithWebIdentity", "InvalidIdentityToken", "", 400, Unauthenticated},
	{"STS", "AssumeRoleWithWebIdentity", "IDPCommunicationError", "", 400, Transient},
	{"STS", "GetCallerIdentity", "InvalidClientTokenId", "", 403, Unauthenticated},
	{"STS", "GetCallerIdentity", "SignatureDoesNotMatch", "Signature expired: 20260101T000000Z is now earlier than", 403, Transient},
	{"STS", "GetCallerIdentity", "SignatureDoesNotMatch", "Signature not yet current: 20260101T000000Z", 403, Transient},
	{"STS", "GetCallerIdentity", "SignatureDoesNotMatch", "The request signature we calculated does not match", 403, Unauthenticated},
	{"STS", "GetCallerIdentity", "RegionDisabledException", "", 403, Denied},
	{"Anything", "Create", "ValidationException", "The role cannot be assumed by the service", 400, Propagating},
	{"Anything", "Create", "InvalidRequestException", "unable to assume role", 400, Propagating},
	{"Anything", "Create", "UnsupportedOperationException", "", 400, Invalid},
	{"Anything", "Get", "ResourceNotFoundException", "", 404, Invalid}, // no row says that it is "not found"
	{"Anything", "Get", "NotFound", "Not Found", 404, Unknown},         // made up from the status
	{"Anything", "Get", "Whatever", "", 408, Transient},
	{"Anything", "Get", "Whatever", "", 425, Transient},
	{"Anything", "Get", "Whatever", "", 401, Denied},
	{"Anything", "Get", "", "", 403, Denied},
	{"Anything", "Get", "Whatever", "", 429, Throttled},
	{"Anything", "Get", "Whatever", "", 502, Transient},
	{"Anything", "Get", "Whatever", "", 404, Invalid},
	{"Anything", "Get", "Whatever", "", 400, Invalid},
	{"Anything", "Get", "", "", 404, Unknown}, // a page of a proxy
	{"Anything", "Get", "Whatever", "", 0, Unknown},
}

// placeOf names the place of the rows or the answers of a service.
func placeOf(service, member string) string {
	if service == "" || slices.ContainsFunc(serviceRows, func(r row) bool { return r.service == service }) {
		return map[string]string{"Answers": "commonAnswers", "Rows": "serviceRows"}[member]
	}
	return fmt.Sprintf("%s of %s in errors.go of the folder of its kinds in internal/kinds, and run make generate", member, service)
}

func TestEveryRowOfTheErrorTable(t *testing.T) {
	hit := map[int]bool{}
	for _, a := range answers {
		f := Classify(failed(a.service, a.operation, a.code, a.message, a.status))
		if f.Class != a.want {
			t.Errorf("%s %s %s %q %d is %s, want %s", a.service, a.operation, a.code, a.message, a.status, f.Class, a.want)
		}
		hit[matchingRow(f)] = true
	}
	for i, r := range table {
		if !hit[i] {
			t.Errorf("no answer exercises row %d: %+v: add one to %s", i, r, placeOf(r.service, "Answers"))
		}
	}
}

func TestEveryRowOfPropagationSaysHowLongItTakes(t *testing.T) {
	for _, r := range table {
		if (r.class == Propagating) != (r.within > 0) {
			t.Errorf("within %s: %+v", r.within, r)
		}
	}
	for _, c := range []struct {
		service, operation, code, message string
		want                              time.Duration
	}{
		{"Glue", "CreateCrawler", "InvalidInputException", "Service is unable to assume provided role", 2 * time.Minute},
		{"Lambda", "CreateFunction", "InvalidParameterValueException",
			"The provided execution role does not have permissions to call CreateNetworkInterface on EC2", 5 * time.Minute},
		{"S3", "PutBucketReplication", "InvalidRequest", "Destination bucket must have versioning enabled.", 15 * time.Minute},
		{"S3", "PutBucketPolicy", "MalformedPolicy", "Policy has invalid resource", 0},
	} {
		if got := PropagationTime(failed(c.service, c.operation, c.code, c.message, 400)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.operation, c.message, got, c.want)
		}
	}
}

func TestEveryCodeOfTheTableCanMatch(t *testing.T) {
	for _, r := range table {
		if r.message != strings.ToLower(r.message) {
			t.Errorf("%q can never be found in a lower-cased text", r.message)
		}
		if r.class == "" {
			t.Errorf("%+v has no class", r)
		}
		for code := range strings.SplitSeq(r.code, "|") {
			if normalizeCode(code) != code {
				t.Errorf("%q is compared with %q and can never match", code, normalizeCode(code))
			}
		}
	}
	for _, code := range []string{"Exception", "Fault", "Error", ""} {
		if normalizeCode(code) != code {
			t.Errorf("%q was normalized away", code)
		}
	}
}

func TestRowsOfOneServiceComeBeforeCommonOnes(t *testing.T) {
	common := false
	for _, r := range table {
		switch {
		case r.service == "":
			common = true
		case common:
			t.Errorf("%+v comes after a row for all services", r)
		}
	}
}

func TestFailureKeepsWhatAWSSaid(t *testing.T) {
	f := Classify(failed("Secrets Manager", "CreateSecret", "ResourceExistsException", "exists", 400))
	want := Failure{Exists, "secretsmanager", "CreateSecret", "ResourceExistsException", "exists", 400, "4442587f-f4ca-4a30", 0}
	if f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
	if f := Classify(failed("SQS", "CreateQueue", "QueueDeletedRecently", "", 400)); f.After != time.Minute {
		t.Errorf("after %s", f.After)
	}
	if f := Classify(failed("EKS", "UpdateClusterConfig", "InvalidParameterException", "Cluster is already at the desired configuration",
		400)); f.After != time.Minute {
		t.Errorf("after %s", f.After)
	}
	if f := Classify(nil); f != (Failure{}) || Is(nil, "") || IsNotFound(nil) {
		t.Error("no error is a failure")
	}
}

func TestTheInnermostOperationCounts(t *testing.T) {
	inner := failed("STS", "AssumeRole", "AccessDenied", "no", 403)
	err := &smithy.OperationError{ServiceID: "S3", OperationName: "CreateBucket", Err: errors.Join(errors.New("get identity"), inner)}
	if f := Classify(err); f.Service != "sts" || f.Operation != "AssumeRole" || f.Class != Denied {
		t.Errorf("%+v", f)
	}
}
