// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
)

// request rights: the rights that AWS evaluates for a request. The reference lists the resources of its action (iam_reference.go), the
// services list the further actions that it takes (iam_dependents.go).
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html

// Asker finds out which rights a request takes.
type Asker struct {
	Ctx     context.Context
	p       *Proxy
	X       *Exchange
	Action  string
	Context map[string][]string
	tags    map[string]string // that the request gives
}

// demandsOf returns the rights that a request takes.
func (c *callers) demandsOf(ctx context.Context, x *Exchange) []policy.Demand {
	rights := &x.facts().Rights
	q := &Asker{Ctx: ctx, p: c.proxy, X: x, Action: x.call.Action(), tags: RequestTags(x.Request)}
	q.Context = map[string][]string{"aws:securetransport": {"true"}, "aws:requestedregion": {x.Region}, "aws:principalaccount": {q.Account()}}
	for key, value := range q.tags {
		q.Context["aws:requesttag/"+strings.ToLower(key)] = []string{value}
		q.Context["aws:tagkeys"] = append(q.Context["aws:tagkeys"], key)
	}
	if rights.Context != nil {
		rights.Context(q)
	}
	if rights.Evaluated != nil {
		q.Action = cmp.Or(rights.Evaluated(q), q.Action)
	}
	var out []policy.Demand
	if rights.Demands != nil {
		out = rights.Demands(q)
	} else {
		out = q.ofReference(q.Action)
	}
	for _, d := range rights.Dependents {
		if d.holds(q) {
			out = append(out, d.demands(q)...)
		}
	}
	return out
}

// On is the demand for the action of the request on a resource.
func (q *Asker) On(arn string) policy.Demand { return q.Need(q.Action, arn, nil) }

// Need is the demand for an action on a resource, with further values of the context.
func (q *Asker) Need(action, arn string, further map[string]string) policy.Demand {
	return policy.Demand{Action: action, Resource: arn, Context: q.also(further),
		Tags: sync.OnceValue(func() map[string]string { return q.visibleTags(arn) })}
}

// also is the context of the request with further values.
func (q *Asker) also(further map[string]string) map[string][]string {
	if len(further) == 0 {
		return q.Context
	}
	out := map[string][]string{}
	for key, values := range q.Context {
		out[key] = values
	}
	for key, value := range further {
		out[strings.ToLower(key)] = []string{value}
	}
	return out
}

// Regional is the ARN of a resource of the service, in the region and the account of the request.
func (q *Asker) Regional(resource string) string {
	return "arn:" + q.Partition() + ":" + q.X.Service + ":" + q.X.Region + ":" + q.Account() + ":" + resource
}

// Account is the account of the caller.
func (q *Asker) Account() string { return q.p.AccountOf(q.X.AccessKey) }

// visibleTags are the tags of a resource that AWS evaluates: those that it has had for the lag of SetTagLag.
func (q *Asker) visibleTags(arn string) map[string]string {
	tags := q.resourceTags(arn)
	if len(tags) == 0 || !q.p.memory.tagsVisible(arn) {
		return nil
	}
	return tags
}

// resourceTags asks for the tags of a resource, of the services that know conditions on them.
func (q *Asker) resourceTags(arn string) map[string]string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || strings.HasSuffix(arn, "*") {
		return nil
	}
	if tagsOf := q.p.catalog.of(parts[2]).Rights.TagsOf; tagsOf != nil {
		return tagsOf(q, arn, parts[5][strings.LastIndexByte(parts[5], '/')+1:])
	}
	return nil
}

// TagsOf asks for the tags of a resource by the JSON operation of its service.
func (q *Asker) TagsOf(service, target, field, resource string) map[string]string {
	pages, err := q.Inside().JSON(q.Ctx, service, target, map[string]any{field: resource})
	if err != nil || len(pages) == 0 {
		return nil // such as: it does not exist
	}
	return TagsIn(cmp.Or[any](pages[0]["TagList"], pages[0]["Tags"]))
}

// Direct asks moto directly, with the caller's access key, for state that AWS evaluates at once, without lag.
func (q *Asker) Direct() *Lister { return q.p.lister(q.X.AccessKey, q.X.Region) }

// TagsOfUnknownKeys are the tags that Limit was given for keys that the emulator does not have.
func (q *Asker) TagsOfUnknownKeys() map[string]string {
	return q.p.callers.tagsOfUnknownKeys(q.X.AccessKey)
}

// Inside asks in the place of the caller, without a right and with the corrections, and is not recorded.
func (q *Asker) Inside() *Lister {
	l := q.p.lister(q.X.AccessKey, q.X.Region)
	l.trip = q.p.callers.askInside
	return l
}

// askInside lets a request of the proxy take the way of a client's.
func (c *callers) askInside(r *http.Request) (*Answer, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	x := &Exchange{Request: c.proxy.catalog.decode(r, body), endpoint: c.proxy.main, call: &Call{}}
	if a := c.proxy.forward(r.Context(), x); a != nil {
		return a, nil
	}
	return nil, http.ErrServerClosed
}

// Query asks by the query protocol in the place of the caller.
func (q *Asker) Query(service, op, version string, form url.Values) ([]byte, error) {
	form.Set("Action", op)
	form.Set("Version", version)
	return q.Inside().Send(q.Ctx, service, http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
}

// Found is a member of the answer to a JSON operation of the service; nil if it fails.
func (q *Asker) Found(target string, request map[string]any, path string) any {
	pages, err := q.Inside().JSON(q.Ctx, q.X.Service, target, request)
	if err != nil || len(pages) == 0 {
		return nil
	}
	return Member(pages[0], path)
}
