// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// protocol says how a service speaks: it decides how its errors look.
type protocol int

const (
	protocolJSON  protocol = iota // X-Amz-Target and a JSON body
	protocolQuery                 // Action= in a form
	protocolEC2                   // the same with other errors
	protocolS3                    // REST and XML
	protocolREST                  // REST and JSON
	protocolXML                   // REST and XML, not S3
	protocolCBOR                  // Smithy RPC v2
)

// request is a decoded request of an AWS client.
type request struct {
	http      *http.Request
	body      []byte
	protocol  protocol
	service   string // IAM prefix
	op        string
	resource  string
	region    string
	accessKey string
	form      url.Values     // query protocol
	json      map[string]any // JSON protocols
	bucket    string         // S3
	key       string         // S3
}

var credentialPattern = regexp.MustCompile(`Credential=([^/,\s]+)/\d+/([^/]+)/([^/]+)/aws4_request`)

// decode names a request. It never fails: what it does not know becomes
// `service.METHOD(/path)`.
func decode(r *http.Request, body []byte) *request {
	d := &request{http: r, body: body}
	d.readScope()
	switch target := r.Header.Get("X-Amz-Target"); {
	case target != "":
		d.decodeJSON(target)
	case strings.HasPrefix(r.URL.Path, "/service/") && strings.Contains(r.URL.Path, "/operation/"):
		d.protocol = protocolCBOR
		d.op = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		d.decodeQuery()
	case d.service == "s3" || d.service == "":
		d.decodeS3()
	default:
		d.decodeREST()
	}
	return d
}

// readScope takes key, region and service from the signature.
func (d *request) readScope() {
	credential := d.http.Header.Get("Authorization")
	if presigned := d.http.URL.Query().Get("X-Amz-Credential"); presigned != "" {
		credential = "Credential=" + presigned
	}
	m := credentialPattern.FindStringSubmatch(credential)
	if m == nil {
		return
	}
	d.accessKey, d.region, d.service = m[1], m[2], m[3]
	if alias, ok := signingNames[d.service]; ok {
		d.service = alias
	}
}

// signingNames lists the names that differ from the prefix of the service in IAM.
var signingNames = map[string]string{
	"s3express": "s3", "monitoring": "cloudwatch", "email": "ses", "eks-auth": "eks", "tagging": "tag",
	"cloudcontrolapi": "cloudformation",
}

// targets are the services of unsigned requests.
var targets = map[string]string{
	"DynamoDB_20120810": "dynamodb", "AWSGlue": "glue", "AmazonSSM": "ssm", "secretsmanager": "secretsmanager",
	"AWSCognitoIdentityProviderService": "cognito-idp", "AmazonSQS": "sqs",
}

func (d *request) decodeJSON(target string) {
	d.protocol = protocolJSON
	prefix, op, _ := strings.Cut(target, ".")
	if i := strings.LastIndexByte(target, '.'); i >= 0 {
		op = target[i+1:]
	}
	d.op = op
	if d.service == "" {
		d.service = targets[prefix]
	}
	if err := json.Unmarshal(d.body, &d.json); err != nil {
		d.json = map[string]any{}
	}
	d.resource = jsonResource(d.service, d.op, d.json)
}

func (d *request) decodeQuery() {
	d.protocol = protocolQuery
	form, err := url.ParseQuery(string(d.body))
	if err != nil {
		form = url.Values{}
	}
	d.form, d.op = form, form.Get("Action")
	if d.service == "ec2" {
		d.protocol = protocolEC2
	}
	if d.service == "" && strings.HasPrefix(d.op, "AssumeRole") {
		d.service = "sts" // with a web identity or SAML: unsigned
	}
	d.resource = queryResource(form)
}

// xmlServices are the REST services other than S3 that answer in XML.
var xmlServices = map[string]bool{"route53": true, "cloudfront": true}

func (d *request) decodeREST() {
	d.protocol = protocolREST
	if xmlServices[d.service] {
		d.protocol = protocolXML
	}
	d.op, d.resource = d.http.Method, d.http.URL.Path
	if d.service == "route53" {
		d.decodeRoute53()
		return
	}
	if len(d.body) > 0 {
		_ = json.Unmarshal(d.body, &d.json)
	}
	switch d.service {
	case "eks":
		d.decodeEKS()
	case "bedrock":
		d.decodeBedrock()
	case "lambda":
		d.decodeLambda()
	}
}

// bedrockPaths lists the paths of the requests that use models, knowledge bases and guardrails.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_Operations.html
var bedrockPaths = []struct {
	path       *regexp.Regexp
	op, prefix string
}{
	{regexp.MustCompile(`^/model/(.+)/(?:invoke|converse)$`), "InvokeModel", ""},
	{regexp.MustCompile(`^/model/(.+)/(?:invoke-with-response-stream|converse-stream)$`), "InvokeModelWithResponseStream", ""},
	{regexp.MustCompile(`^/knowledgebases/([^/]+)/retrieve$`), "Retrieve", "knowledge-base/"},
	{regexp.MustCompile(`^/guardrail/([^/]+)/version/[^/]+/apply$`), "ApplyGuardrail", "guardrail/"},
}

func (d *request) decodeBedrock() {
	for _, row := range bedrockPaths {
		if m := row.path.FindStringSubmatch(d.http.URL.Path); m != nil {
			d.op, d.resource = row.op, row.prefix+m[1]
		}
	}
}

// reads are the first words of operations that change nothing.
var reads = []string{
	"Get", "List", "Describe", "Head", "BatchGet", "Query", "Scan", "Lookup", "Search", "Check", "Simulate", "Select",
	"Filter", "Preview", "Validate", "Test", "Estimate", "AdminGet", "AdminList", "AssumeRole", "Decode", "GET", "HEAD",
	"GenerateDataKey", "Encrypt", "Decrypt", "Sign", "Verify",
}

func isWrite(op string) bool {
	for _, verb := range reads {
		if strings.HasPrefix(op, verb) {
			return false
		}
	}
	return true
}

// Operation names the operation of a request with its resource, and reports whether it changes something.
func Operation(r *http.Request, body []byte) (name string, write bool) {
	d := decode(r, body)
	return d.service + "." + d.op + "(" + d.resource + ")", isWrite(d.op)
}
