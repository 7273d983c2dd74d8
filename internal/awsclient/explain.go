// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// busyAfter is the minimum duration of work that AWS has accepted.
	busyAfter = 5 * time.Second
	// laggingAfter is the pause before a create that names resources that AWS may not have propagated yet.
	laggingAfter = 15 * time.Second
	// missingAfter is the pause before a call that names resources that a pipeline or a person has yet to make.
	missingAfter = time.Minute
)

// Explain turns the error of an AWS call into the kind of failure that steers the controllers. The action is the IAM action that was tried,
// such as "s3:CreateBucket"; empty is the error's own operation. Nil stays nil. An error that already is a kind of failure stays one,
// without the SDK's wrapping: credentials that are not available fail every call with their own reason.
//
// Messages are fit for conditions: stable from one attempt to the next, at most 512 bytes, without
// request ids, IP addresses and credentials. The AWS error stays in the chain: Classify and Is work on
// the result.
func Explain(err error, action string) error { return operatorWords.explain(err, action) }

// ExplainOnce is Explain for a call that is not retried automatically: its messages tell the person who made the call how to proceed.
func ExplainOnce(err error, action string) error { return personWords.explain(err, action) }

func (w *identityWords) explain(err error, action string) error {
	if err == nil || isKind(err) {
		return kindOf(err)
	}
	f := Classify(err)
	e := explanation{err: err, failure: f, action: action, words: w}
	foreign := f.Service == "" && f.Operation == ""
	if foreign && action == "" && !cutShort(err) {
		// No AWS client returned it: a Kubernetes request failed, or something in the operator.
		return e.retrying(status.ReasonRetrying, "%s", scrub(err.Error()))
	}
	// IAM's name of the action can be copied into a policy.
	e.action = cmp.Or(e.action, strings.Trim(kind.IAMPrefix(f.Service)+":"+f.Operation, ":"), "the call to AWS")
	if speak, ok := explanations[f.Class]; ok {
		return speak(e)
	}
	if said := e.text(); said != "" || !foreign {
		return e.retrying(status.ReasonRetrying, "%s failed%s", e.action, said)
	}
	return e.retrying(status.ReasonRetrying, "%s failed: %s", e.action, scrub(err.Error()))
}

// cutShort reports whether the call's context ended before an answer came.
func cutShort(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Refused is Explain for a failure that has passed for transient long enough, such as Propagating after its PropagationTime: it stalls,
// with the message of AWS.
func Refused(err error, action string) error {
	if err == nil {
		return nil
	}
	e := explanation{err: err, failure: Classify(err), action: action, words: &operatorWords}
	return e.stalled(status.ReasonRefusedByAWS, "AWS refuses %s%s", action, e.text())
}

// LacksAllow reports whether AWS denies a call because no policy of the caller allows it, and not because one denies it. A policy
// that allows it for resources with a tag may do so later.
func LacksAllow(err error) bool {
	return Is(err, Denied) && strings.Contains(Classify(err).Message, "no identity-based policy allows")
}

// AwaitTags is Explain for a denial that new tags of the resource will lift.
func AwaitTags(err error, action string) error {
	e := explanation{err: err, failure: Classify(err), action: action, words: &operatorWords}
	return e.waiting(status.ReasonWaiting, "new tags to count for the operator's rights before %s%s", action, e.text())
}

// isKind reports whether err is one of the kinds of failure already.
func isKind(err error) bool {
	return isType[*status.Stalled](err) || isType[*status.Waiting](err) || isType[*status.Retrying](err)
}

// kindOf removes the SDK's wrapping of a kind of failure that our own credentials returned.
func kindOf(err error) error {
	if s, ok := errors.AsType[*status.Stalled](err); ok {
		return s
	}
	if r, ok := errors.AsType[*status.Retrying](err); ok {
		return r
	}
	return err
}

// explanation is an AWS error on its way to words.
type explanation struct {
	err     error
	failure Failure
	action  string
	words   *identityWords
}

// explanations are the words of each class. Read only.
var explanations = map[Class]func(explanation) error{
	Denied:  explanation.denied,
	Invalid: explanation.invalid,
	Limit: func(e explanation) error {
		return e.stalled(status.ReasonLimitExceeded, "%s exceeds an AWS quota%s: free some or ask for more in Service Quotas", e.action, e.text())
	},
	NameTaken: func(e explanation) error {
		return e.stalled(status.ReasonNameTaken, "the name is taken, by another AWS account or in another region%s: choose another name",
			e.text())
	},
	Protected: func(e explanation) error {
		return e.stalled(status.ReasonDeletionProtected, "AWS refuses %s because deletion protection is on%s: switch it off first", e.action,
			e.text())
	},
	Unauthenticated: func(e explanation) error {
		return e.stalled(status.ReasonCredentialsInvalid, "AWS does not accept the credentials for %s%s: %s", e.action, e.textOfSignIn(),
			e.words.invalid)
	},
	Expired: func(e explanation) error {
		return e.retrying(status.ReasonRetrying, "%s failed%s: %s", e.action, e.textOfSignIn(), e.words.expired)
	},
	Throttled: explanation.throttled,
	Transient: explanation.transient,
	NotFound:  explanation.notFound,
	Missing: func(e explanation) error {
		e.failure.After = max(e.failure.After, missingAfter)
		return e.missing()
	},
	Exists: func(e explanation) error {
		return e.retrying(status.ReasonRetrying, "%s found that the resource already exists%s", e.action, e.text())
	},
	Conflict: func(e explanation) error {
		return e.retrying(status.ReasonRetrying, "%s met another change%s", e.action, e.text())
	},
	Busy: func(e explanation) error {
		return e.waiting(status.ReasonBusy, "AWS to finish what it is doing before %s%s", e.action, e.text())
	},
	Propagating: func(e explanation) error {
		return e.waiting(status.ReasonWaiting, "recent changes to reach every AWS service before %s%s", e.action, e.text())
	},
	NotEmpty: explanation.notEmpty,
	ScheduledForDeletion: func(e explanation) error {
		return e.waiting(status.ReasonBusy, "an earlier deletion to end before %s%s", e.action, e.text())
	},
}

func (e explanation) stalled(reason, format string, args ...any) error {
	return &status.Stalled{Reason: reason, Message: status.Truncate(fmt.Sprintf(format, args...), maxMessage), Cause: e.err}
}

func (e explanation) retrying(reason, format string, args ...any) error {
	return &status.Retrying{Reason: reason, Cause: &stable{text: status.Truncate(fmt.Sprintf(format, args...), maxMessage), err: e.err}}
}

// waiting also keeps the AWS error in the chain, which status.Waiting has no room for.
func (e explanation) waiting(reason, format string, args ...any) error {
	w := &status.Waiting{Reason: reason, For: status.Truncate(fmt.Sprintf(format, args...), maxMessage-16),
		After: max(e.failure.After, busyAfter)}
	return &waitingFor{Waiting: w, err: e.err}
}

// text is AWS's own text, led by a colon.
func (e explanation) text() string {
	code, text := e.failure.Code, strings.TrimRight(scrub(e.failure.Message), ".")
	switch {
	case text != "" && code != "" && !strings.HasPrefix(text, code):
		return ": " + code + ": " + status.Truncate(text, maxMessage-160)
	case text != "":
		return ": " + status.Truncate(text, maxMessage-160)
	case code != "":
		return ": " + code
	case e.failure.Status != 0:
		return fmt.Sprintf(": HTTP status %d without an error of AWS", e.failure.Status)
	}
	return ""
}

// textOfSignIn is text without AWS's quotations of the credentials that it does not accept.
func (e explanation) textOfSignIn() string {
	e.failure.Message = hideCredentials(e.failure.Message)
	return e.text()
}

// invalid also explains a request that the SDK found to be incomplete.
func (e explanation) invalid() error {
	if isType[smithy.InvalidParamsError](e.err) || isType[*smithy.SerializationError](e.err) {
		return e.stalled(status.ReasonRefusedByAWS, "%s was not sent, because the request is incomplete: %s", e.action, scrub(causeOf(e.err)))
	}
	return e.stalled(status.ReasonRefusedByAWS, "AWS refuses %s%s%s", e.action, e.text(), remedies[normalizeCode(e.failure.Code)])
}

// remedies holds the remedies for error codes that have none in the message.
var remedies = map[string]string{
	"GlueEncryption": ": make the KMS key of the Data Catalog usable, which aws glue get-data-catalog-encryption-settings names",
}

// causeOf is the text of an operation's error, without the names of the operation around it.
func causeOf(err error) string {
	var op *smithy.OperationError
	for errors.As(err, &op) {
		err = op.Err
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

func (e explanation) transient() error {
	switch words := transportFailure(e.err); {
	case e.failure.Status == http.StatusNotImplemented:
		return e.retrying(status.ReasonRetrying, "%s failed%s: the endpoint has no such operation; check endpoint and region of the provider",
			e.action, e.text())
	case e.failure.Status >= http.StatusInternalServerError && e.failure.Code != "":
		return e.retrying(status.ReasonRetrying, "%s failed: AWS has an internal problem (HTTP status 5xx%s): "+e.words.passes+
			", see AWS's health dashboard", e.action, e.text())
	case e.failure.Status >= http.StatusInternalServerError:
		return e.retrying(status.ReasonRetrying, "%s failed: AWS has an internal problem (HTTP status 5xx): "+e.words.passes+
			", see AWS's health dashboard", e.action)
	case e.failure.Code != "":
		return e.retrying(status.ReasonRetrying, "%s failed%s", e.action, e.text())
	case words != "":
		return e.retrying(status.ReasonUnreachable, "%s failed: %s%s: "+e.words.passes+", check the way to AWS", e.action, words,
			endpointOf(e.err))
	}
	return e.retrying(status.ReasonUnreachable, "%s failed: the answer was broken: "+e.words.passes+", check the way to AWS", e.action)
}

func (e explanation) notEmpty() error {
	reason := status.ReasonWaiting
	if e.failure.Service == "s3" {
		reason = status.ReasonBucketNotEmpty
	}
	return e.waiting(reason, "what it still holds to go before %s%s", e.action, e.text())
}

// creates are the operations that make a resource, so that a "not found" is about another resource that they name.
const creates = "Create*|Run*|Subscribe|Request*|Import*"

// notFound waits for resources that a create names, because other pipelines and tools make them, too.
func (e explanation) notFound() error {
	if !matchesAnyOf(creates, e.failure.Operation) {
		return e.retrying(status.ReasonRetrying, "%s names what AWS does not find (yet)%s", e.action, e.text())
	}
	e.failure.After = max(e.failure.After, laggingAfter)
	return e.missing()
}

func (e explanation) missing() error {
	w := &status.Waiting{Reason: status.ReasonNotFoundInAWS, Bounded: true, After: max(e.failure.After, busyAfter),
		For: status.Truncate(fmt.Sprintf("what %s names to exist%s", e.action, e.text()), maxMessage-16)}
	return &waitingFor{Waiting: w, err: e.err}
}

// refusal takes AWS's text apart:
// docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html.
var refusal = regexp.MustCompile(`(?is)user: (\S+) is not authorized to perform: ([\w-]+:\w+)(?: on (?:the )?resource:? "?([^"\s]+)"?)?`)

func (e explanation) throttled() error {
	if IsPaced(e.err) {
		return e.retrying(status.ReasonThrottled, "%s waits for the operator's rate limit, which keeps within the AWS quota: "+e.words.passes+
			", raise the quota and --aws-rates", e.action)
	}
	return e.retrying(status.ReasonThrottled, "AWS throttles %s%s: "+e.words.passes+", lower --aws-rates or ask AWS for more", e.action,
		e.text())
}

// accountCodes say that the account, not the identity, may not do it.
const accountCodes = "OptInRequired|SubscriptionRequired|PendingVerification|Blocked|AccountDisabled|AccountProblem|AllAccessDisabled"

// denied names the caller, the refused action and the resource, as far as AWS does, and the remedy.
func (e explanation) denied() error {
	text := scrub(e.failure.Message)
	if matchesAnyOf(accountCodes, normalizeCode(e.failure.Code)) {
		return e.stalled(status.ReasonAccessDenied,
			"AWS denies %s%s: no IAM policy allows this: the account must be enabled, or subscribed to the product, first", e.action, e.text())
	}
	who, action, on := e.words.caller, e.action, ""
	m := refusal.FindStringSubmatch(text)
	if m == nil {
		return e.stalled(status.ReasonAccessDenied, "AWS denies %s%s: allow %s to %s", action, e.text(), action, who)
	}
	who, action = principal(m[1]), m[2]
	if m[3] != "" {
		on = " on " + strings.TrimRight(m[3], ".")
	}
	needed := ""
	if !strings.EqualFold(action, e.action) {
		needed = " (needed for " + e.action + ")"
	}
	remedy := fmt.Sprintf("allow %s%s to %s", action, on, who)
	if strings.Contains(text, "explicit deny") {
		remedy = "a policy denies it explicitly: remove that deny"
	}
	return e.stalled(status.ReasonAccessDenied, "AWS denies %s%s to %s%s: %s", action, on, who, needed, remedy)
}

// principal is the role behind a role session, as policies name it; for any other ARN, the ARN. AWS leaves the role's path out of session
// ARNs:
// docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html.
func principal(arn string) string {
	partition, account, role, ok := roleOfSession(arn)
	if !ok {
		return arn
	}
	return "arn:" + partition + ":iam::" + account + ":role/" + role
}

// stable shows words that do not change, and keeps the error they speak of.
type stable struct {
	text string
	err  error
}

func (s *stable) Error() string { return s.text }
func (s *stable) Unwrap() error { return s.err }

// waitingFor is a status.Waiting that keeps its cause.
type waitingFor struct {
	*status.Waiting
	err error
}

// Unwrap gives both: the kind of failure first, then AWS's error.
func (w *waitingFor) Unwrap() []error { return []error{w.Waiting, w.err} }

// AwaitMissing returns a wait if AWS does not find a resource yet that others make, and any other error as it is.
func AwaitMissing(err error, what string) error {
	if !Is(err, Missing) {
		return err
	}
	e := explanation{err: err, failure: Classify(err)}
	e.failure.After = missingAfter
	return e.waiting(status.ReasonWaiting, "%s%s", what, e.text())
}
