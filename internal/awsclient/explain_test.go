// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

const deniedText = `User: arn:aws:sts::123456789012:assumed-role/operator/1700000000000000000 is not authorized to perform: s3:CreateBucket on resource: "arn:aws:s3:::data" because no identity-based policy allows the s3:CreateBucket action`

func TestExplainTurnsClassesIntoKindsOfFailure(t *testing.T) {
	for _, c := range []struct {
		service, operation, code, message string
		status                            int
		action                            string
		want                              error
	}{
		{"S3", "CreateBucket", "AccessDenied", deniedText, 403, "s3:CreateBucket", &status.Stalled{Reason: status.ReasonAccessDenied,
			Message: "AWS denies s3:CreateBucket on arn:aws:s3:::data to arn:aws:iam::123456789012:role/operator: allow s3:CreateBucket on arn:aws:s3:::data to arn:aws:iam::123456789012:role/operator"}},
		{"S3", "CreateBucket", "AccessDenied", "Access Denied", 403, "s3:CreateBucket", &status.Stalled{Reason: status.ReasonAccessDenied,
			Message: "AWS denies s3:CreateBucket: AccessDenied: Access Denied: allow s3:CreateBucket to the provider's identity (status.callerIdentity of its AWSProvider)"}},
		{"Glue", "CreateCrawler", "AccessDeniedException",
			"User: arn:aws:iam::123456789012:user/u is not authorized to perform: iam:PassRole on resource: arn:aws:iam::123456789012:role/r", 400,
			"glue:CreateCrawler", &status.Stalled{Reason: status.ReasonAccessDenied,
				Message: "AWS denies iam:PassRole on arn:aws:iam::123456789012:role/r to arn:aws:iam::123456789012:user/u (needed for glue:CreateCrawler): allow iam:PassRole on arn:aws:iam::123456789012:role/r to arn:aws:iam::123456789012:user/u"}},
		{"SQS", "CreateQueue", "AccessDenied",
			"User: arn:aws:iam::123456789012:user/u is not authorized to perform: sqs:CreateQueue with an explicit deny in a service control policy",
			403, "sqs:CreateQueue", &status.Stalled{Reason: status.ReasonAccessDenied,
				Message: "AWS denies sqs:CreateQueue to arn:aws:iam::123456789012:user/u: a policy denies it explicitly: remove that deny"}},
		{"EC2", "RunInstances", "", "", 403, "ec2:RunInstances", &status.Stalled{Reason: status.ReasonAccessDenied,
			Message: "AWS denies ec2:RunInstances: HTTP status 403 without an error of AWS: allow ec2:RunInstances to the provider's identity (status.callerIdentity of its AWSProvider)"}},
		{"DynamoDB", "CreateTable", "ValidationException", "One or more parameter values were invalid.", 400, "dynamodb:CreateTable",
			&status.Stalled{Reason: status.ReasonRefusedByAWS,
				Message: "AWS refuses dynamodb:CreateTable: ValidationException: One or more parameter values were invalid"}},
		{"Glue", "CreateTable", "GlueEncryptionException", "The ciphertext refers to a key that is disabled", 400, "glue:CreateTable",
			&status.Stalled{Reason: status.ReasonRefusedByAWS,
				Message: "AWS refuses glue:CreateTable: GlueEncryptionException: The ciphertext refers to a key that is disabled: make the KMS key of the Data Catalog usable, which aws glue get-data-catalog-encryption-settings names"}},
		{"Glue", "CreateTable", "GlueEncryptionException",
			"User: arn:aws:iam::123456789012:user/u is not authorized to perform: kms:GenerateDataKey on resource: arn:aws:kms:eu-west-1:123456789012:key/k", 400, "glue:CreateTable",
			&status.Stalled{Reason: status.ReasonAccessDenied,
				Message: "AWS denies kms:GenerateDataKey on arn:aws:kms:eu-west-1:123456789012:key/k to arn:aws:iam::123456789012:user/u (needed for glue:CreateTable): allow kms:GenerateDataKey on arn:aws:kms:eu-west-1:123456789012:key/k to arn:aws:iam::123456789012:user/u"}},
		{"IAM", "CreateRole", "LimitExceeded", "Cannot exceed quota for RolesPerAccount: 1000", 409, "iam:CreateRole",
			&status.Stalled{Reason: status.ReasonLimitExceeded,
				Message: "iam:CreateRole exceeds an AWS quota: LimitExceeded: Cannot exceed quota for RolesPerAccount: 1000: free some or ask for more in Service Quotas"}},
		{"S3", "CreateBucket", "BucketAlreadyExists", "", 409, "s3:CreateBucket", &status.Stalled{Reason: status.ReasonNameTaken,
			Message: "the name is taken, by another AWS account or in another region: BucketAlreadyExists: choose another name"}},
		{"DynamoDB", "DeleteTable", "ValidationException", "Resource cannot be deleted as it is currently protected against deletion.", 400,
			"dynamodb:DeleteTable", &status.Stalled{Reason: status.ReasonDeletionProtected,
				Message: "AWS refuses dynamodb:DeleteTable because deletion protection is on: ValidationException: Resource cannot be deleted as it is currently protected against deletion: switch it off first"}},
		{"EC2", "DescribeVpcs", "AuthFailure",
			"Credential must have exactly 5 slash-delimited elements, got 'wJalrXUtnFEMI/20260101/us-west-2/ec2/aws4_request'", 401,
			"ec2:DescribeVpcs", &status.Stalled{Reason: status.ReasonCredentialsInvalid,
				Message: "AWS does not accept the credentials for ec2:DescribeVpcs: AuthFailure: Credential must have exactly 5 slash-delimited elements, got (hidden): check the provider's"}},
		{"S3", "HeadBucket", "InvalidAccessKeyId", "", 403, "s3:ListBucket", &status.Stalled{Reason: status.ReasonCredentialsInvalid,
			Message: "AWS does not accept the credentials for s3:ListBucket: InvalidAccessKeyId: check the provider's"}},

		{"STS", "GetCallerIdentity", "ExpiredToken", "", 403, "", &status.Retrying{Reason: status.ReasonRetrying,
			Cause: errors.New("sts:GetCallerIdentity failed: ExpiredToken: the provider's credentials have expired")}},
		{"S3", "CreateBucket", "SlowDown", "", 503, "s3:CreateBucket", &status.Retrying{Reason: status.ReasonThrottled,
			Cause: errors.New("AWS throttles s3:CreateBucket: SlowDown: it is retried automatically; if this lasts, lower --aws-rates or ask AWS for more")}},
		{"S3", "CreateBucket", "InternalError", "We encountered", 500, "s3:CreateBucket", &status.Retrying{Reason: status.ReasonRetrying,
			Cause: errors.New("s3:CreateBucket failed: AWS has an internal problem (HTTP status 5xx: InternalError: We encountered): it is retried automatically; if this lasts, see AWS's health dashboard")}},
		{"EKS", "DescribeCluster", "InternalFailure", "The API for service 'eks' has not been emulated", 501, "eks:DescribeCluster",
			&status.Retrying{Reason: status.ReasonRetrying,
				Cause: errors.New("eks:DescribeCluster failed: InternalFailure: The API for service 'eks' has not been emulated: the endpoint has no such operation; check endpoint and region of the provider")}},
		{"Cognito Identity Provider", "ListUserPools", "InternalErrorException", "", 400, "",
			&status.Retrying{Reason: status.ReasonRetrying, Cause: errors.New("cognito-idp:ListUserPools failed: InternalErrorException")}},
		{"EC2", "RunInstances", "AuthFailure", "Not authorized for images: [ami-0123]", 403, "ec2:RunInstances",
			&status.Stalled{Reason: status.ReasonAccessDenied,
				Message: "AWS denies ec2:RunInstances: AuthFailure: Not authorized for images: [ami-0123]: allow ec2:RunInstances to the provider's identity (status.callerIdentity of its AWSProvider)"}},
		{"EC2", "RunInstances", "OptInRequired", "In order to use this AWS Marketplace product you need to accept terms and subscribe.", 401,
			"ec2:RunInstances", &status.Stalled{Reason: status.ReasonAccessDenied,
				Message: "AWS denies ec2:RunInstances: OptInRequired: In order to use this AWS Marketplace product you need to accept terms and subscribe: no IAM policy allows this: the account must be enabled, or subscribed to the product, first"}},
		{"RDS", "DeleteDBInstance", "DBSnapshotAlreadyExists",
			"Cannot create the snapshot because a snapshot with the identifier orders-final already exists.", 400, "rds:DeleteDBInstance",
			&status.Stalled{Reason: status.ReasonRefusedByAWS,
				Message: "AWS refuses rds:DeleteDBInstance: DBSnapshotAlreadyExists: Cannot create the snapshot because a snapshot with the identifier orders-final already exists"}},
		{"S3", "CreateBucket", "OperationAborted", "A conflicting operation is in progress.", 409, "s3:CreateBucket",
			&status.Retrying{Reason: status.ReasonRetrying,
				Cause: errors.New("s3:CreateBucket failed: OperationAborted: A conflicting operation is in progress")}},
		{"S3", "CreateBucket", "MissingNamespaceHeader", "x", 400, "s3:CreateBucket",
			&status.Stalled{Reason: status.ReasonRefusedByAWS, Message: "AWS refuses s3:CreateBucket: MissingNamespaceHeader: x"}},
		{"S3", "PutBucketPolicy", "NoSuchBucket", "none", 404, "s3:PutBucketPolicy", &status.Retrying{Reason: status.ReasonRetrying,
			Cause: errors.New("s3:PutBucketPolicy names what AWS does not find (yet): NoSuchBucket: none")}},
		{"S3", "CreateBucket", "BucketAlreadyOwnedByYou", "", 409, "s3:CreateBucket", &status.Retrying{Reason: status.ReasonRetrying,
			Cause: errors.New("s3:CreateBucket found that the resource already exists: BucketAlreadyOwnedByYou")}},
		{"Glue", "UpdateTable", "VersionMismatchException", "", 400, "glue:UpdateTable",
			&status.Retrying{Reason: status.ReasonRetrying, Cause: errors.New("glue:UpdateTable met another change: VersionMismatchException")}},

		{"DynamoDB", "UpdateTable", "ResourceInUseException", "in use", 400, "dynamodb:UpdateTable",
			&status.Waiting{Reason: status.ReasonBusy, After: busyAfter,
				For: "AWS to finish what it is doing before dynamodb:UpdateTable: ResourceInUseException: in use"}},
		{"SQS", "CreateQueue", "QueueDeletedRecently", "", 400, "sqs:CreateQueue", &status.Waiting{Reason: status.ReasonBusy, After: time.Minute,
			For: "AWS to finish what it is doing before sqs:CreateQueue: QueueDeletedRecently"}},
		{"Glue", "CreateCrawler", "InvalidInputException", "Service is unable to assume provided role.", 400, "glue:CreateCrawler",
			&status.Waiting{Reason: status.ReasonWaiting, After: busyAfter,
				For: "recent changes to reach every AWS service before glue:CreateCrawler: InvalidInputException: Service is unable to assume provided role"}},
		{"S3", "DeleteBucket", "BucketNotEmpty", "", 409, "s3:DeleteBucket",
			&status.Waiting{Reason: status.ReasonBucketNotEmpty, After: busyAfter,
				For: "what it still holds to go before s3:DeleteBucket: BucketNotEmpty"}},
		{"IAM", "DeleteRole", "DeleteConflict", "", 409, "iam:DeleteRole", &status.Waiting{Reason: status.ReasonWaiting, After: busyAfter,
			For: "what it still holds to go before iam:DeleteRole: DeleteConflict"}},
		{"Secrets Manager", "CreateSecret", "InvalidRequestException", "a secret with this name is already scheduled for deletion.", 400, "",
			&status.Waiting{Reason: status.ReasonBusy, After: busyAfter,
				For: "an earlier deletion to end before secretsmanager:CreateSecret: InvalidRequestException: a secret with this name is already scheduled for deletion"}},
	} {
		cause := failed(c.service, c.operation, c.code, c.message, c.status)
		got := Explain(cause, c.action)
		if describe(got) != describe(c.want) {
			t.Errorf("%s %s:\n got %s\nwant %s", c.operation, c.code, describe(got), describe(c.want))
		}
		if said := ExplainOnce(cause, c.action).Error(); strings.Contains(said, "automatically") || strings.Contains(said, "provider's") {
			t.Errorf("%s %s: the call is not retried, and there may be no provider: %s", c.operation, c.code, said)
		}
		if Classify(got) != Classify(cause) {
			t.Errorf("%s %s: the explained error is %+v", c.operation, c.code, Classify(got))
		}
		if again := Explain(got, "other"); again != got {
			t.Errorf("%s %s: explained twice: %v", c.operation, c.code, again)
		}
	}
}

// describe shows kind, reason, text and pause of a failure.
func describe(err error) string {
	if s, ok := status.AsStalled(err); ok {
		return "Stalled " + s.Reason + ": " + s.Error()
	}
	if w, ok := status.AsWaiting(err); ok {
		return fmt.Sprintf("Waiting %s %s: %s", w.Reason, w.After, w.Error())
	}
	if r, ok := errors.AsType[*status.Retrying](err); ok {
		return "Retrying " + r.Reason + ": " + r.Error()
	}
	return fmt.Sprint(err)
}

// Other pipelines and tools make images, networks and queues. A request that names one of them too early is no mistake of a person.
func TestMissing_IsWaitedForAndNeverStalls(t *testing.T) {
	for _, a := range answers {
		isCreate := a.want == NotFound && matchesAnyOf(creates, a.operation)
		if a.want != Missing && !isCreate {
			continue
		}
		err := Explain(failed(a.service, a.operation, a.code, a.message, a.status), "")
		w, ok := status.AsWaiting(err)
		if !ok || w.After > time.Minute || !strings.Contains(err.Error(), a.message[:min(len(a.message), 25)]) {
			t.Errorf("%s %s %s: %v", a.service, a.operation, a.code, err)
		}
		if !HadNoEffect(failed(a.service, a.operation, a.code, a.message, a.status)) {
			t.Errorf("%s %s %s may have had an effect", a.service, a.operation, a.code)
		}
	}
}

func TestEveryClassIsExplained(t *testing.T) {
	for _, r := range table {
		if _, ok := explanations[r.class]; !ok && r.class != Unknown {
			t.Errorf("nobody explains %s", r.class)
		}
	}
	if Explain(nil, "x") != nil || Refused(nil, "x") != nil {
		t.Error("no error is a failure")
	}
}

func TestExplain_SaysInEveryClassWhatAWSSaid(t *testing.T) {
	const text = "the words of the service"
	for class, speak := range explanations {
		said := speak(explanation{err: errors.New(text), action: "s3:PutBucketPolicy", words: &operatorWords,
			failure: Failure{Class: class, Service: "s3", Operation: "PutBucketPolicy", Code: "SomeCode", Message: text,
				Status: http.StatusBadRequest}}).Error()
		if !strings.Contains(said, "SomeCode: "+text) {
			t.Errorf("%s: %s", class, said)
		}
	}
}

// The texts about credentials quote them.
func TestHideCredentials_LeavesNothingOfThem(t *testing.T) {
	const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	for text, want := range map[string]string{
		"Credential must have exactly 5 slash-delimited elements, got '" + secret[:13] +
			"/20260101/aws4_request'": "Credential must have exactly 5 slash-delimited elements, got (hidden)",
		"'" + secret[:20] + "\n' not a valid key=value pair (missing equal-sign) in Authorization header: 'AWS4-HMAC-SHA256": "(hidden) not a valid key=value pair (missing equal-sign) in Authorization header: (hidden)",
		`The token "` + secret[:10] +
			`" is malformed`: "The token (hidden) is malformed",
		"The key " + secret + " is not known":                   "The key (hidden) is not known",
		"The account's token is invalid, and the role's, too":   "The account's token is invalid, and the role's, too",
		"The security token included in the request is expired": "The security token included in the request is expired",
		"No OpenIDConnect provider found in your account for https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE": "No OpenIDConnect provider found in your account for https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE",
	} {
		if got := hideCredentials(text); got != want || strings.Contains(got, secret[:10]) {
			t.Errorf("hideCredentials(%q)\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestExplainOnce_SaysWhatToDoAboutTheWayToAWS(t *testing.T) {
	for _, err := range []error{&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, context.DeadlineExceeded} {
		if said := ExplainOnce(err, "s3:CreateBucket").Error(); !strings.Contains(said, "try again; if this lasts, check the way to AWS") {
			t.Errorf("%s", said)
		}
	}
}

func TestExplain_KeepsTheTextOfOtherErrors(t *testing.T) {
	refused := errors.New("secrets \"db\" is forbidden: User cannot get resource")
	retryingWith(t, Explain(refused, ""), status.ReasonRetrying, refused.Error())
	retryingWith(t, Explain(errors.New("no randomness"), "secretsmanager:CreateSecret"), status.ReasonRetrying,
		"secretsmanager:CreateSecret failed", "no randomness")
}

func TestPropagationThatLastsIsRefused(t *testing.T) {
	err := failed("Glue", "CreateCrawler", "InvalidInputException", "Service is unable to assume provided role.", 400)
	stalledWith(t, Refused(Explain(err, "glue:CreateCrawler"), "glue:CreateCrawler"), status.ReasonRefusedByAWS,
		"AWS refuses glue:CreateCrawler: InvalidInputException: Service is unable")
}

func TestBrokenConnectionsAreTransientAndNamedStably(t *testing.T) {
	dial := func(err error) error {
		return &smithyhttp.RequestSendError{Err: &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 40123},
			Err: err}}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "connection refused"},
		{dial(os.NewSyscallError("read", syscall.ECONNRESET)), "connection reset"},
		{dial(os.NewSyscallError("write", syscall.EPIPE)), "connection reset"},
		{dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "network unreachable"},
		{dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "network unreachable"},
		{dial(os.NewSyscallError("connect", syscall.ETIMEDOUT)), "no answer in time"},
		{dial(&net.DNSError{Name: "s3.mars-1.amazonaws.com", IsNotFound: true}), "no such host"},
		{dial(&net.DNSError{Name: "s3.mars-1.amazonaws.com", Server: "10.0.0.1:53"}), "name resolution fails"},
		{dial(&tls.CertificateVerificationError{Err: errors.New("x509: certificate signed by unknown authority")}), "certificate"},
		{dial(errors.New("tls: handshake failure")), "TLS"},
		{dial(errors.New("odd")), "connection failed"},
		{net.ErrClosed, "connection reset"},
		{io.ErrUnexpectedEOF, "closed early"},
		{io.EOF, "closed early"},
		{context.DeadlineExceeded, "no answer in time"},
		{context.Canceled, "cut short"},
	} {
		if f := Classify(c.err); f.Class != Transient || f.Status != 0 {
			t.Errorf("%v is %+v", c.err, f)
		}
		got := Explain(c.err, "s3:CreateBucket")
		retryingWith(t, got, status.ReasonUnreachable, "s3:CreateBucket failed: ", c.want, operatorWords.passes)
		if strings.Contains(got.Error(), "10.") || strings.Contains(got.Error(), "40123") {
			t.Errorf("an address in %q", got)
		}
		if !errors.Is(got, c.err) {
			t.Errorf("%v lost its cause", got)
		}
	}
}

func TestMessagesAreFitForConditions(t *testing.T) {
	for text, want := range map[string]string{
		"Rate exceeded (Service: AmazonDataCatalog; Status Code: 400; Error Code: X; Request ID: 9d72b66f-9c75-11e8)": "Rate exceeded",
		"failed, RequestID: 9d72b66f-9c75-11e8-9faf":                                                                  "failed",
		"failed (Request ID: 9d72b66f-9c75)":                                                                          "failed",
		"denied. Encoded authorization failure message: kWwE2abcDEF_-== end":                                          "denied. end",
		"Signature expired: 20260101T000000Z is now earlier than 20260101T001500Z (20260101T002000Z - 5 min.)":        "Signature expired: (time) is now earlier than (time) ((time) - 5 min.)",
		"since 2026-01-01T00:00:00.123Z":                                                                              "since (time)",
		"key AKIAIOSFODNN7EXAMPLE is bad":                                                                             "key (access key) is bad",
		"dial 10.1.2.3:443 in 10.0.0.0/16":                                                                            "dial (address) in 10.0.0.0/16",
		"The request signature we calculated does not match.\n\nThe Canonical String for this request should have been\n'POST\n/\n\nx-amz-security-token:" + canary + "'": "The request signature we calculated does not match.",
		"1 validation error detected: Value '" + canary +
			"' at 'secretString' failed to satisfy constraint": "1 validation error detected: value (hidden) at 'secretString' failed to satisfy constraint",
		"Value 'it's " + canary +
			"' at 'masterUserPassword' failed": "value (hidden) at 'masterUserPassword' failed",
		"Value 'x' at 'tableName' failed":                                  "Value 'x' at 'tableName' failed",
		"User: arn:aws:sts::123456789012:assumed-role/r/session-17 is not": "User: arn:aws:sts::123456789012:assumed-role/r is not",
		"two\n  lines": "two lines",
	} {
		if got := scrub(text); got != want {
			t.Errorf("scrub(%q)\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestScrub_HidesSecretsOverSeveralLines(t *testing.T) {
	lines := strings.Repeat("QWxhZGRpbjpvcGVuIHNlc2FtZQ", 2) + canary
	encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("secret "+canary, 20)))
	var wrapped []string
	for text := encoded; text != ""; text = text[min(len(text), 64):] {
		wrapped = append(wrapped, text[:min(len(text), 64)])
	}
	for text, want := range map[string]string{
		"1 validation error detected: Value '" + canary + "\n" + canary +
			"' at 'secretString' failed": "1 validation error detected: value (hidden) at 'secretString' failed",
		"Value 'first\r\n" + canary +
			"' at 'masterUserPassword' failed": "value (hidden) at 'masterUserPassword' failed",
		"secretAccessKey: " + lines[:20] + "\n  " + lines[20:] + " is not known":                    "secretAccessKey: (hidden) is not known",
		`{"SecretString": "a` + "\n" + canary + `"} is too long`:                                    `{"SecretString": (hidden)} is too long`,
		`{\"password\":\"` + canary + `\"}`:                                                         `{\"password\":(hidden)}`,
		"aws_session_token=" + canary + " has expired":                                              "aws_session_token=(hidden) has expired",
		"read -----BEGIN RSA PRIVATE KEY-----\n" + canary + "\n-----END RSA PRIVATE KEY----- twice": "read (hidden) twice",
		"read -----BEGIN PRIVATE KEY-----\n" + canary:                                               "read (hidden)",
		"the value " + strings.Join(wrapped, "\n") + " is refused":                                  "the value (hidden) is refused",
		"the value " + encoded + " is refused":                                                      "the value (hidden) is refused",
		"Password: too short":                                                                       "Password: too short",
		"arn:aws:iam::123456789012:role/a/path/of/a/role/that/is/no/secret\nanother":                "arn:aws:iam::123456789012:role/a/path/of/a/role/that/is/no/secret another",
	} {
		if got := scrub(text); got != want || strings.Contains(got, canary) {
			t.Errorf("scrub(%q)\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("ü", 3000)
	for _, class := range answers {
		got := Explain(failed(class.service, class.operation, class.code, class.message+" "+long, class.status), "s3:CreateBucket")
		if n := len(got.Error()); n > maxMessage || !utf8.ValidString(got.Error()) {
			t.Errorf("%s %s: %d bytes", class.operation, class.code, n)
		}
	}
	if status.Truncate("abc", 3) != "abc" || status.Truncate("abcdefgh", 6) != "abc…" {
		t.Error("clip")
	}
}

func FuzzScrub(f *testing.F) {
	f.Add(deniedText)
	f.Add("Value '' at 'password'")
	f.Add("request id: aaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, text string) {
		got := status.Truncate(scrub(text), maxMessage)
		if len(got) > maxMessage || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}
