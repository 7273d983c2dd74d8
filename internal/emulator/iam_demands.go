// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
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
func (c *callers) demandsOf(ctx context.Context, x *exchange) []demand {
	rights := &x.facts().Rights
	q := &asker{ctx: ctx, p: c.proxy, x: x, action: x.call.Action(), tags: requestTags(x.request)}
	q.context = map[string][]string{"aws:securetransport": {"true"}, "aws:requestedregion": {x.region}, "aws:principalaccount": {q.account()}}
	for key, value := range q.tags {
		q.context["aws:requesttag/"+strings.ToLower(key)] = []string{value}
		q.context["aws:tagkeys"] = append(q.context["aws:tagkeys"], key)
	}
	if rights.Context != nil {
		rights.Context(q)
	}
	if rights.Evaluated != nil {
		q.action = cmp.Or(rights.Evaluated(q), q.action)
	}
	var out []demand
	if rights.Demands != nil {
		out = rights.Demands(q)
	} else {
		out = q.ofReference(q.action)
	}
	for _, d := range rights.Dependents {
		if d.holds(q) {
			out = append(out, d.demands(q)...)
		}
	}
	return out
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

func (q *asker) account() string { return q.p.accountOf(q.x.accessKey) }

// visibleTags are the tags of a resource that AWS evaluates: those that it has had for the lag of SetTagLag.
func (q *asker) visibleTags(arn string) map[string]string {
	tags := q.resourceTags(arn)
	if len(tags) == 0 || !q.p.memory.tagsVisible(arn) {
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
	if tagsOf := factsOf(parts[2]).Rights.TagsOf; tagsOf != nil {
		return tagsOf(q, arn, parts[5][strings.LastIndexByte(parts[5], '/')+1:])
	}
	return nil
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
	l.trip = q.p.callers.askInside
	return l
}

// askInside lets a request of the proxy take the way of a client's.
func (c *callers) askInside(r *http.Request) (*answer, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	x := &exchange{request: decode(r, body), endpoint: c.proxy.main, call: &Call{}}
	if a := c.proxy.forward(r.Context(), x); a != nil {
		return a, nil
	}
	return nil, http.ErrServerClosed
}

// query asks by the query protocol in the place of the caller.
func (q *asker) query(service, op, version string, form url.Values) ([]byte, error) {
	form.Set("Action", op)
	form.Set("Version", version)
	return q.inside().send(q.ctx, service, http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
}

// found is a member of the answer to a JSON operation of the service; nil if it fails.
func (q *asker) found(target string, request map[string]any, path string) any {
	pages, err := q.inside().json(q.ctx, q.x.service, target, request)
	if err != nil || len(pages) == 0 {
		return nil
	}
	return member(pages[0], path)
}
