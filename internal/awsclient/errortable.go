// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"slices"
	"strings"
	"time"
)

// row is one line of the error table. An empty field matches anything; every field given must match.
// The first row that matches decides, so the specific come before the general.
type row struct {
	// service is a serviceName.
	service string
	// operation is one or more names with "|" between; "Update*" is a prefix.
	operation string
	// code is one or more codes in the form that normalizeCode gives, with "|" between; "*.NotFound" is a suffix.
	code string
	// message is a part of AWS's text, in lower case.
	message string
	status  int
	class   Class
	after   time.Duration
	// within limits how long AWS may still give this answer, of the class Propagating.
	within time.Duration
}

// How long a change takes to reach the services that answer as if it had not been made. AWS documents a time for some of them; for the
// others it is the time that the Terraform provider for AWS retries the same answers (github.com/hashicorp/terraform-provider-aws).
const (
	// OfIAM: internal/service/iam/wait.go, propagationTimeout, and the constants of the services that name roles or policies.
	OfIAM = 2 * time.Minute
	// OfLinkedRoles: EKS says "are still propagating. Retry later", and no time:
	// docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html. They are roles of IAM.
	OfLinkedRoles = OfIAM
	// OfResources: no time is documented; it is that of IAM.
	OfResources = OfIAM
)

// PropagationTime returns how long AWS may go on answering with an error of the class Propagating; 0 of any other error.
func PropagationTime(err error) time.Duration {
	r, _ := lookupError(Classify(err))
	return r.within
}

// The table: rows by service, then the rows that all services share, then rows by HTTP status. Codes are those of the API references
// (docs.aws.amazon.com/<service>/latest/APIReference/CommonErrors.html and each operation's Errors section) and of the SDK's
// types/errors.go. The rows of services that kinds call are written from errors.go of the folders of the kinds. Read only.
var table = slices.Concat(
	kindRows, serviceRows, throttleRows, identityRows, commonRows, statusRows,
)

// lookupError finds the row of a failure.
func lookupError(f Failure) (row, bool) {
	if i := matchingRow(f); i >= 0 {
		return table[i], true
	}
	return row{}, false
}

func matchingRow(f Failure) int {
	code, message := normalizeCode(f.Code), strings.ToLower(f.Message)
	return slices.IndexFunc(table, func(r row) bool {
		return (r.service == "" || r.service == f.Service) &&
			(r.status == 0 || r.status == f.Status) &&
			(r.code == "" || matchesAnyOf(r.code, code)) &&
			(r.operation == "" || matchesAnyOf(r.operation, f.Operation)) &&
			strings.Contains(message, r.message)
	})
}

// matchesAnyOf reports whether one of the alternatives is the name, begins it ("Update*") or ends it ("*.InUse").
func matchesAnyOf(alternatives, name string) bool {
	for alternative := range strings.SplitSeq(alternatives, "|") {
		prefix, isPrefix := strings.CutSuffix(alternative, "*")
		suffix, isSuffix := strings.CutPrefix(alternative, "*")
		switch {
		case alternative == name,
			isPrefix && strings.HasPrefix(name, prefix),
			isSuffix && strings.HasSuffix(name, suffix):
			return true
		}
	}
	return false
}

// normalizeCode removes the prefixes and suffixes of a code that differ between protocols and SDK versions:
// "AWS.SimpleQueueService.NonExistentQueue", "DBInstanceNotFoundFault", "ThrottlingException".
func normalizeCode(code string) string {
	for _, prefix := range []string{"AWS.SimpleQueueService.", "Client.", "Server.", "Sender.", "Receiver."} {
		code = strings.TrimPrefix(code, prefix)
	}
	for _, suffix := range []string{"Exception", "Fault", "Error"} { // InternalErrorException has two
		if short, ok := strings.CutSuffix(code, suffix); ok && short != "" {
			code = short
		}
	}
	return code
}

// serviceRows are of services that no kind calls:
// docs.aws.amazon.com/eventbridge/latest/APIReference, .../resourcegroupstagging/latest/APIReference
var serviceRows = []row{
	{service: "eventbridge", code: "ResourceNotFound", class: NotFound},
	{service: "eventbridge", code: "InvalidEventPattern|ManagedRule", class: Invalid},
	{service: "eventbridge", code: "ConcurrentModification", class: Transient},
	{service: "eventbridge", code: "LimitExceeded", class: Limit},
	{service: "resourcegroupstaggingapi", code: "PaginationTokenExpired", class: Transient},
}

// throttleRows: docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html, without
// LimitExceededException, which most services use for quotas.
var throttleRows = []row{
	{code: "Throttling|Throttled|RequestThrottled|EC2Throttled", class: Throttled},
	{code: "TooManyRequests|RequestLimitExceeded|BandwidthLimitExceeded|SlowDown", class: Throttled},
	{code: "ProvisionedThroughputExceeded|PriorRequestNotComplete", class: Throttled},
}

// identityRows: docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html and, for S3,
// docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html.
var identityRows = []row{
	{code: "ExpiredToken|ExpiredTradeInToken|TokenRefreshRequired|TokenExpired", class: Expired},
	// Our clock, or AWS's: the SDK has read the server's Date from this answer and corrects the next.
	{code: "RequestTimeTooSkewed|RequestExpired|RequestInTheFuture", class: Transient},
	{code: "SignatureDoesNotMatch|InvalidSignature", message: "signature expired", class: Transient},
	{code: "SignatureDoesNotMatch|InvalidSignature", message: "not yet current", class: Transient},
	{code: "InvalidClientTokenId|UnrecognizedClient|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidSignature", class: Unauthenticated},
	{code: "AuthFailure|MissingAuthenticationToken|IncompleteSignature|InvalidToken|InvalidSecurity|NotSignedUp", class: Unauthenticated},
	{code: "InvalidIdentityToken|IDPRejectedClaim|InvalidGrant", class: Unauthenticated},
	{code: "IDPCommunication", class: Transient},
	{code: "AccessDenied|UnauthorizedOperation|Unauthorized|NotAuthorized|Authorization", class: Denied},
	{code: "Forbidden|UnauthorizedAccess|OptInRequired|SubscriptionRequired|RegionDisabled|AllAccessDisabled|AccountProblem", class: Denied},
}

var commonRows = []row{
	// A policy may name a role that IAM has not spread yet: eventual consistency,
	// docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency.
	{code: "MalformedPolicyDocument|MalformedPolicy|InvalidParameterValue|InvalidParameter", message: "invalid principal", class: Propagating,
		within: OfIAM},
	{code: "Validation|InvalidParameterValue|InvalidParameter|InvalidInput|InvalidRequest", message: "cannot be assumed", class: Propagating,
		within: OfIAM},
	{code: "Validation|InvalidParameterValue|InvalidParameter|InvalidInput|InvalidRequest", message: "unable to assume", class: Propagating,
		within: OfIAM},
	{operation: "Delete*|Terminate*", code: "Validation|InvalidParameter|InvalidRequest|OperationNotPermitted", message: "deletion protection",
		class: Protected},
	{code: "Internal|InternalFailure|InternalServer|InternalService|Unavailable", class: Transient},
	{code: "ServiceUnavailable|ServiceFailure|RequestTimeout|RequestCanceled|DependencyTimeout|OperationTimeout", class: Transient},
	{code: "ConcurrentModification|ConcurrentAccess|OperationAborted|RequestInProgress", class: Transient},
	{code: "Conflict|IdempotentParameterMismatch|IdempotencyParameterMismatch|ConditionalCheckFailed|PreconditionNotMet", class: Conflict},
	{code: "LimitExceeded|ServiceQuotaExceeded|QuotaExceeded|TooManyTags|TagLimitExceeded|ResourceLimitExceeded", class: Limit},
	{code: "Validation|InvalidParameter|InvalidParameters|InvalidParameterValue|InvalidParameterCombination|MissingParameter", class: Invalid},
	{code: "InvalidInput|InvalidRequest|InvalidArgument|BadRequest|MalformedInput|Serialization|InvalidTag", class: Invalid},
	{code: "MalformedPolicyDocument|MalformedPolicy|PackedPolicyTooLarge|MalformedQueryString|MalformedXML", class: Invalid},
	{code: "UnsupportedOperation|Unsupported|UnknownOperation|InvalidAction|NotImplemented|OperationNotSupported", class: Invalid},
}

// statusRows decide when the code says nothing we know, such as an enforcing proxy's bare 403. There
// is none for 404: a missing page is not a missing resource.
var statusRows = []row{
	{status: 401, class: Denied},
	{status: 403, class: Denied},
	{status: 429, class: Throttled},
}
