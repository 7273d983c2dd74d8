// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// secretScheduledForDeletion: moto says ResourceExistsException of a name in its
// recovery window.
func secretScheduledForDeletion(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if errorCode(a) != "ResourceExistsException" {
		return a
	}
	_, secret, err := p.askJSON(ctx, x, "DescribeSecret", map[string]any{"SecretId": x.json["Name"]})
	if err != nil || secret["DeletedDate"] == nil {
		return a
	}
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequestException",
		"You can't create this secret because a secret with this name is already scheduled for deletion."})
}

// throughputSetting: moto has no service settings. This one is always there in AWS; others are left to moto.
func throughputSetting(_ context.Context, p *Proxy, x *exchange) *answer {
	const id = "/ssm/parameter-store/high-throughput-enabled"
	if x.json["SettingId"] != id {
		return nil
	}
	p.state.mu.Lock()
	value, status := "false", "Default"
	if p.state.raised {
		value, status = "true", "Customized"
	}
	p.state.mu.Unlock()
	body := fmt.Appendf(nil, `{"ServiceSetting":{"SettingId":%q,"SettingValue":%q,"Status":%q,"ARN":"arn:aws:ssm:%s:%s:servicesetting%s"}}`,
		id, value, status, x.region, defaultAccount, id)
	return &answer{http.StatusOK, http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, body}
}

// checkAssumedRole: moto lets anybody assume any role, also one that does not
// exist, and does not look at the ExternalId.
func checkAssumedRole(ctx context.Context, p *Proxy, x *exchange) *answer {
	arn := x.form.Get("RoleArn")
	denied := errorAnswer(x.request, awsError{http.StatusForbidden, "AccessDenied",
		"User: arn:aws:iam::" + defaultAccount + ":root is not authorized to perform: sts:AssumeRole on resource: " + arn})
	if len(strings.SplitN(arn, ":", 6)) != 6 {
		return nil // moto refuses it
	}
	document, ok := trustPolicy(ctx, p, x, arn)
	if !ok || !trusts(document, x.form.Get("ExternalId")) {
		return denied
	}
	return nil
}

// trustPolicy is that of the role of an ARN that a request names; ok is false when there is no such role.
func trustPolicy(ctx context.Context, p *Proxy, x *exchange, arn string) (document string, ok bool) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 {
		return "", false
	}
	body := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {x.resource}}.Encode()
	iam := &exchange{request: &request{accessKey: x.accessKey, region: x.region, service: "iam"}}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Moto-Account-Id": {parts[4]}}
	a, err := p.ask(ctx, iam, http.MethodPost, "/", header, []byte(body))
	if err != nil || a.status != http.StatusOK {
		return "", false
	}
	var role struct {
		Trust string `xml:"GetRoleResult>Role>AssumeRolePolicyDocument"`
	}
	if xml.Unmarshal(a.body, &role) != nil {
		return "", false
	}
	if document, err = url.PathUnescape(role.Trust); err != nil {
		document = role.Trust
	}
	return document, true
}

// trusts reports whether some statement of a trust policy that allows AssumeRole
// has no condition on the ExternalId or one that is met.
func trusts(document, externalID string) bool {
	var policy struct {
		Statement []struct {
			Effect    string
			Action    any
			Condition map[string]map[string]any
		}
	}
	if json.Unmarshal([]byte(document), &policy) != nil {
		return true // a single statement as an object: not looked into
	}
	for _, s := range policy.Statement {
		actions := list(s.Action)
		if s.Effect == "Allow" && (slices.Contains(actions, "sts:AssumeRole") || slices.Contains(actions, "sts:*") || slices.Contains(actions, "*")) &&
			externalIDMet(s.Condition, externalID) {
			return true
		}
	}
	return false
}

func externalIDMet(condition map[string]map[string]any, externalID string) bool {
	for operator, keys := range condition {
		for key, want := range keys {
			if !strings.EqualFold(key, "sts:ExternalId") {
				continue
			}
			matches := func(w string) bool {
				return externalID == w || operator == "StringLike" && w != "" && wire.Glob(w, externalID)
			}
			if externalID == "" || !slices.ContainsFunc(list(want), matches) {
				return false
			}
		}
	}
	return true
}

func list(v any) []string {
	switch t := v.(type) {
	case string:
		return []string{t}
	case bool:
		return []string{fmt.Sprint(t)}
	case []any:
		var out []string
		for _, e := range t {
			out = append(out, fmt.Sprint(e))
		}
		return out
	}
	return nil
}

// tableNotReady: a table that is being created refuses changes.
func tableNotReady(_ context.Context, p *Proxy, x *exchange) *answer {
	if !isWrite(x.op) || x.op == "CreateTable" || strings.HasPrefix(x.op, "Tag") || !p.tableCreating(x) {
		return nil
	}
	if x.op == "UpdateContinuousBackups" {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "ContinuousBackupsUnavailableException",
			"Backups are being enabled for the table: " + x.resource + ". Please retry later"})
	}
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "ResourceInUseException",
		"Attempt to change a resource which is still in use: Table is being created: " + x.resource})
}

// tableCreating: moto's tables are ACTIVE at once.
func tableCreating(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if a.status == http.StatusOK && p.tableCreating(x) {
		a.body = bytes.Replace(a.body, []byte(`"TableStatus": "ACTIVE"`), []byte(`"TableStatus": "CREATING"`), 1)
		// moto sends a checksum, which the client would compare.
		a.header.Del("X-Amz-Crc32")
	}
	return a
}

func (p *Proxy) tableCreating(x *exchange) bool {
	return p.state.createdWithin(x, p.state.tableCreating())
}

// updateCrawler: moto has no UpdateCrawler; the crawler is created again with the
// members of the request in place of the old ones.
func updateCrawler(ctx context.Context, p *Proxy, x *exchange) *answer {
	name := x.json["Name"]
	a, got, err := p.askJSON(ctx, x, "GetCrawler", map[string]any{"Name": name})
	if err != nil {
		return nil
	}
	crawler, ok := got["Crawler"].(map[string]any)
	if !ok {
		return a // EntityNotFoundException
	}
	arn := fmt.Sprintf("arn:%s:glue:%s:%s:crawler/%s", partitionOf(x.region), x.region, defaultAccount, name)
	_, tags, err := p.askJSON(ctx, x, "GetTags", map[string]any{"ResourceArn": arn})
	if err != nil {
		return nil
	}
	want := crawlerInput(crawler)
	maps.Copy(want, x.json)
	want["Tags"] = tags["Tags"]
	for _, step := range []struct {
		op   string
		body any
	}{{"DeleteCrawler", map[string]any{"Name": name}}, {"CreateCrawler", want}} {
		if a, _, err = p.askJSON(ctx, x, step.op, step.body); err != nil || a.status != http.StatusOK {
			return a
		}
	}
	return a
}

// crawlerInput gives the members of a crawler that CreateCrawler takes.
func crawlerInput(crawler map[string]any) map[string]any {
	want := map[string]any{}
	for _, key := range []string{"Name", "Role", "DatabaseName", "Description", "Targets", "Classifiers", "TablePrefix", "SchemaChangePolicy",
		"RecrawlPolicy", "LineageConfiguration", "LakeFormationConfiguration", "Configuration", "CrawlerSecurityConfiguration"} {
		if v, ok := crawler[key]; ok && v != nil {
			want[key] = v
		}
	}
	if schedule := text(member(crawler, "Schedule.ScheduleExpression")); schedule != "" {
		want["Schedule"] = schedule
	}
	return want
}

// prepareParameterTags: moto makes the table of all parameters' tags at its first use, and two requests that do so at the same time
// make two, of which one is lost with the tags in it. The proxy makes the table before the first request of an account and region,
// to the end even if the client does not wait: a request that moto still works on would replace the table later.
func prepareParameterTags(ctx context.Context, p *Proxy, x *exchange) *answer {
	p.state.preparing.Lock()
	defer p.state.preparing.Unlock()
	place := x.accessKey + " " + x.region
	if p.state.isPrepared(place) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	name := "/emulator-prepares-tags"
	_, _, err := p.askJSON(ctx, x, "PutParameter", map[string]any{"Name": name, "Value": "-", "Type": "String", "Tags": []map[string]string{{"Key": "k", "Value": "v"}}})
	if err == nil {
		_, _, err = p.askJSON(ctx, x, "DeleteParameter", map[string]any{"Name": name})
	}
	p.state.setPrepared(place, err == nil)
	return nil
}

func (s *state) isPrepared(place string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prepared[place]
}

func (s *state) setPrepared(place string, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prepared[place] = done
}

// clearedDescription: moto keeps the description of a secret that is to be empty.
func clearedDescription(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	s := &p.state
	s.mu.Lock()
	id := s.identity(x, x.service, x.resource)
	description, named := x.json["Description"]
	if x.op != "DescribeSecret" && (named || x.op != "UpdateSecret") {
		s.cleared[id] = x.op == "UpdateSecret" && description == ""
	}
	cleared := s.cleared[id]
	s.mu.Unlock()
	var body map[string]any
	if x.op != "DescribeSecret" || !cleared || a.status != http.StatusOK || json.Unmarshal(a.body, &body) != nil {
		return a
	}
	delete(body, "Description")
	shown, err := json.Marshal(body)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	a.body = shown
	return a
}
