// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// request rights: what AWS evaluates for a request. The reference says what its action is about (iam_reference.go), a table which
// further actions it takes (iam_dependents.go).
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html

// asker finds out what a request takes.
type asker struct {
	ctx     context.Context
	p       *Proxy
	x       *exchange
	action  string
	context map[string][]string
	tags    map[string]string // that the request gives
}

// demandsOf returns the rights that a request takes.
func (p *Proxy) demandsOf(ctx context.Context, x *exchange) []demand {
	q := &asker{ctx: ctx, p: p, x: x, action: x.call.Action(), tags: requestTags(x.request)}
	q.context = map[string][]string{"aws:securetransport": {"true"}, "aws:requestedregion": {x.region}, "aws:principalaccount": {p.AccountOf(x.accessKey)}}
	for key, value := range q.tags {
		q.context["aws:requesttag/"+strings.ToLower(key)] = []string{value}
		q.context["aws:tagkeys"] = append(q.context["aws:tagkeys"], key)
	}
	q.addBoundary()
	if other := objectActions[x.op]; x.service == "s3" && other != "" {
		q.action = "s3:" + other
	}
	if strings.HasPrefix(x.op, "Transact") {
		q.action = actionOfParts(x.json)
	}
	var out []demand
	if instead := insteadOfReference[x.service]; instead != nil {
		out = instead(q)
	} else {
		out = q.ofReference(q.action)
	}
	for _, d := range dependents {
		if d.holds(q) {
			out = append(out, d.demands(q)...)
		}
	}
	return out
}

// insteadOfReference are the services for which the reference does not say what a request takes.
var insteadOfReference = map[string]func(*asker) []demand{
	// The reference marks all types as required, of which a request names one.
	"bedrock": (*asker).bedrock,
	// GetCallerIdentity takes no right, and AssumeRole is about the role in another service.
	"sts": func(q *asker) []demand {
		if q.x.op == "GetCallerIdentity" {
			return nil
		}
		return []demand{q.need(q.action, q.x.form.Get("RoleArn"), nil)}
	},
}

// on is the demand for the action of the request on a resource.
func (q *asker) on(arn string) demand { return q.need(q.action, arn, nil) }

// need is the demand for an action on a resource, with further values of the context.
func (q *asker) need(action, arn string, further map[string]string) demand {
	return demand{action: action, resource: arn, context: q.also(further), tags: sync.OnceValue(func() map[string]string { return q.visibleTags(arn) })}
}

// also is the context of the request with further values.
func (q *asker) also(further map[string]string) map[string][]string {
	if len(further) == 0 {
		return q.context
	}
	out := map[string][]string{}
	for key, values := range q.context {
		out[key] = values
	}
	for key, value := range further {
		out[strings.ToLower(key)] = []string{value}
	}
	return out
}

func (q *asker) regional(resource string) string {
	return "arn:" + q.partition() + ":" + q.x.service + ":" + q.x.region + ":" + q.account() + ":" + resource
}

func (q *asker) account() string { return q.p.AccountOf(q.x.accessKey) }

// passes is the demand for giving a role to a service. In China, EC2 has a name of the partition.
// https://docs.amazonaws.cn/en_us/aws/latest/userguide/iam.html
func (q *asker) passes(role, service string) demand {
	name := service + ".amazonaws.com"
	if service == "ec2" && q.partition() == "aws-cn" {
		name += ".cn"
	}
	return q.need("iam:PassRole", role, map[string]string{"iam:PassedToService": name})
}

// tagSpecifications are the demands for the tags of what a request of EC2 makes.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html
func (q *asker) tagSpecifications() []demand {
	var out []demand
	for _, kind := range q.values("TagSpecification.#.ResourceType") {
		d := q.need("ec2:CreateTags", q.regional(kind+"/*"), map[string]string{"ec2:CreateAction": q.x.op})
		d.tags = nil
		out = append(out, d)
	}
	return out
}

// visibleTags are the tags of a resource that AWS evaluates: those that it has had for the lag of SetTagLag.
func (q *asker) visibleTags(arn string) map[string]string {
	tags := q.resourceTags(arn)
	if len(tags) == 0 || !q.p.state.tagsVisible(arn) {
		return nil
	}
	return tags
}

// resourceTags asks for the tags of a resource, of the services that know conditions on them.
func (q *asker) resourceTags(arn string) map[string]string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || strings.HasSuffix(arn, "*") {
		return nil
	}
	id := parts[5][strings.LastIndexByte(parts[5], '/')+1:]
	switch parts[2] {
	case "acm":
		return q.tagsOf("acm", "CertificateManager.ListTagsForCertificate", "CertificateArn", arn)
	case "cognito-idp": // with the pool: the emulator does not list them
		return tagsIn(q.found("AWSCognitoIdentityProviderService.DescribeUserPool", map[string]any{"UserPoolId": id}, "UserPool.UserPoolTags"))
	case "ec2":
		return q.networkTags(strings.HasPrefix(parts[5], "key-pair/"), id)
	case "eks":
		body, err := q.inside().get(q.ctx, "eks", "/tags/"+url.PathEscape(arn))
		if err != nil {
			return nil
		}
		tags, _ := decodeJSON(body).(map[string]any)
		return tagsIn(tags["tags"])
	case "kms":
		return q.keyTags(arn)
	case "ssm":
		name := "/" + strings.TrimPrefix(parts[5], "parameter/")
		return tagsIn(q.found("AmazonSSM.ListTagsForResource", map[string]any{"ResourceType": "Parameter", "ResourceId": name}, "TagList"))
	}
	return nil
}

var (
	tagItem   = regexp.MustCompile(`(?s)<item>\s*(?:<key>([^<]*)</key>|<value>([^<]*)</value>|<resourceId>[^<]*</resourceId>|<resourceType>[^<]*</resourceType>|<UnknownToTheSDK>(?:<Since>[^<]*</Since>)?</UnknownToTheSDK>|\s)+</item>`)
	keyPairID = regexp.MustCompile(`<keyPairId>([^<]*)</keyPairId>`)
)

// networkTags returns the tags of a resource of EC2. A key pair has its name in its ARN, and an identifier.
func (q *asker) networkTags(isKeyPair bool, id string) map[string]string {
	if isKeyPair && !strings.HasPrefix(id, "key-") {
		body, err := q.query("ec2", "DescribeKeyPairs", "2016-11-15", url.Values{"KeyName.1": {id}})
		if err != nil {
			return nil
		}
		id = firstMatch(keyPairID, body)
	}
	body, err := q.query("ec2", "DescribeTags", "2016-11-15", url.Values{"Filter.1.Name": {"resource-id"}, "Filter.1.Value.1": {id}})
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, m := range tagItem.FindAllSubmatch(body, -1) {
		out[string(m[1])] = string(m[2])
	}
	return out
}

// tagsOf asks for the tags of a resource by the JSON operation of its service.
func (q *asker) tagsOf(service, target, field, resource string) map[string]string {
	pages, err := q.inside().json(q.ctx, service, target, map[string]any{field: resource})
	if err != nil || len(pages) == 0 {
		return nil // such as: it does not exist
	}
	return tagsIn(cmp.Or[any](pages[0]["TagList"], pages[0]["Tags"]))
}

// inside asks in the place of the caller, without a right and with the corrections, and is not recorded.
func (q *asker) inside() *lister {
	l := q.p.lister(q.x.accessKey, q.x.region)
	l.trip = q.p.askInside
	return l
}

// askInside lets a request of the proxy take the way of a client's.
func (p *Proxy) askInside(r *http.Request) (*answer, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	x := &exchange{request: decode(r, body), endpoint: p.main, call: &Call{}}
	if a := p.forward(r.Context(), x); a != nil {
		return a, nil
	}
	return nil, http.ErrServerClosed
}

// found is a member of the answer to a JSON operation of the service; nil if it fails.
func (q *asker) found(target string, request map[string]any, path string) any {
	pages, err := q.inside().json(q.ctx, q.x.service, target, request)
	if err != nil || len(pages) == 0 {
		return nil
	}
	return member(pages[0], path)
}

// profilePattern is the form of the identifiers of cross-region inference profiles.
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
var profilePattern = regexp.MustCompile(`^(us|eu|apac|us-gov|global|jp|au|ca)\.(.+)$`)

// bedrock: who calls a profile also needs the right to the model, through the profile.
func (q *asker) bedrock() []demand {
	id, model := q.x.resource, func(region, id string) string {
		return "arn:" + q.partition() + ":bedrock:" + region + "::foundation-model/" + id
	}
	switch m := profilePattern.FindStringSubmatch(id); {
	case q.action != "bedrock:InvokeModel" && q.action != "bedrock:InvokeModelWithResponseStream":
		return []demand{q.on(q.regional(id))}
	case strings.HasPrefix(id, "arn:"):
		return []demand{q.on(id)}
	case m != nil:
		profile := q.regional("inference-profile/" + id)
		return []demand{q.on(profile), q.need(q.action, model("us-west-2", m[2]), map[string]string{"bedrock:InferenceProfileArn": profile})}
	}
	return []demand{q.on(model(q.x.region, id))}
}
