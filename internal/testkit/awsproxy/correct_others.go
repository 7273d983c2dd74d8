package awsproxy

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

// checkAssumedRole: moto lets anybody assume any role, also one that does not
// exist, and does not look at the ExternalId.
func checkAssumedRole(ctx context.Context, p *Proxy, x *exchange) *answer {
	arn := x.form.Get("RoleArn")
	denied := errorAnswer(x.request, awsError{http.StatusForbidden, "AccessDenied",
		"User: arn:aws:iam::" + defaultAccount + ":root is not authorized to perform: sts:AssumeRole on resource: " + arn})
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 {
		return nil // moto refuses it
	}
	body := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {x.resource}}.Encode()
	iam := &exchange{request: &request{accessKey: x.accessKey, region: x.region, service: "iam"}}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Moto-Account-Id": {parts[4]}}
	a, err := p.ask(ctx, iam, http.MethodPost, "/", header, []byte(body))
	if err != nil || a.status != http.StatusOK {
		return denied
	}
	var role struct {
		Trust string `xml:"GetRoleResult>Role>AssumeRolePolicyDocument"`
	}
	if xml.Unmarshal(a.body, &role) != nil {
		return denied
	}
	document, err := url.PathUnescape(role.Trust)
	if err != nil {
		document = role.Trust
	}
	if !trusts(document, x.form.Get("ExternalId")) {
		return denied
	}
	return nil
}

// trusts says whether some statement of a trust policy that allows AssumeRole
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
	p.state.mu.Lock()
	duration := p.state.creating
	p.state.mu.Unlock()
	if duration == 0 {
		return false
	}
	age, known := p.state.age(x)
	return known && age < duration
}

// updateCrawler: moto has no UpdateCrawler; the crawler is made anew with the
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
	arn := fmt.Sprintf("arn:aws:glue:%s:%s:crawler/%s", x.region, defaultAccount, name)
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
