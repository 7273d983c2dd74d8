// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Rewrite is a field that AWS returns in another form than the client sent. moto returns it as it was sent.
type Rewrite struct {
	// Kind and Field name a field of a spec, What says how AWS changes it.
	Kind, Field, What string
	// IsSent is true where the kind sends AWS's form, so that no answer is changed.
	IsSent bool

	// IsRecorded is true for a form that users of other tools saw in AWS's answers; the records are in package awsmodels. The others are
	// from AWS's documentation and resource schemas.
	IsRecorded bool
	// Ops are the calls that have their answers changed. There are none if a correction of the emulator changes the answers. Calls then meet
	// the correction.
	Ops []string
	// text changes a text in the answer, such as a policy, or all of it; member is its path in JSON.
	Member string
	Text   func(string) string
	// Members changes the whole of an answer in JSON.
	Members func(body map[string]any)
}

// Forms that several services have.
const (
	AnyOrder        = "the values get another order"
	RewrittenPolicy = "numbers of accounts become ARNs of their roots, lists of one value the value, other lists get another order, and statements without a Sid a number"
)

// RewritesOfRecords returns the entries of the catalog that are from records of users.
func (c *Catalog) RewritesOfRecords() []Rewrite {
	return slices.DeleteFunc(c.Rewrites(), func(r Rewrite) bool { return !r.IsRecorded })
}

// Rewritten returns the fields, as Kind.field, that any answer had in AWS's form since the proxy began.
func (c *Core) Rewritten() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.rewritten))
}

// rewriteAnswer applies the catalog to an answer.
func (c *Core) rewriteAnswer(x *Exchange, a *Answer) *Answer {
	for _, r := range x.facts().Rewrites {
		if !a.OK() || !slices.Contains(r.Ops, x.Op) {
			continue
		}
		changed := r.apply(a)
		if string(changed.Body) == string(a.Body) {
			continue
		}
		a = changed
		c.Meet(r.Kind + "." + r.Field)
	}
	return a
}

func (r Rewrite) apply(a *Answer) *Answer {
	if r.Member == "" && r.Text != nil {
		return a.WithBody([]byte(r.Text(string(a.Body))))
	}
	body, ok := DecodeJSON(a.Body).(map[string]any)
	if !ok {
		return a
	}
	before, err := json.Marshal(body)
	if err != nil {
		return a
	}
	if r.Members != nil {
		r.Members(body)
	} else {
		parent, name := body, r.Member
		if at, last, nested := strings.Cut(r.Member, "."); nested {
			parent, _ = body[at].(map[string]any)
			name = last
		}
		if value := Text(parent[name]); value != "" {
			parent[name] = r.Text(value)
		}
	}
	if after := a.WithJSON(body); string(after.Body) != string(before) {
		return after
	}
	return a
}

var accountNumber = regexp.MustCompile(`^[0-9]{12}$`)

// RewritePolicy writes principals and lists of a policy as AWS does.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
func RewritePolicy(policy string) string {
	return Redocument(policy, func(document map[string]any) {
		statements, _ := document["Statement"].([]any)
		numberStatements(statements)
		for _, s := range statements {
			statement, _ := s.(map[string]any)
			for name, value := range statement {
				statement[name] = withoutLists(value)
			}
			for _, name := range []string{"Principal", "NotPrincipal"} {
				if principals, ok := statement[name].(map[string]any); ok {
					statement[name] = principalsAsARNs(principals)
				}
			}
		}
	})
}

// Redocument changes a document in JSON. One that means the same after it stays as it was written.
func Redocument(text string, change func(document map[string]any)) string {
	var before, document map[string]any
	if json.Unmarshal([]byte(text), &document) != nil || json.Unmarshal([]byte(text), &before) != nil {
		return text
	}
	change(document)
	out, err := json.Marshal(document)
	if err != nil || reflect.DeepEqual(before, document) {
		return text
	}
	return string(out)
}

// numberStatements gives statements a Sid where none has one.
func numberStatements(statements []any) {
	hasSid := func(statement any) bool {
		s, _ := statement.(map[string]any)
		return Text(s["Sid"]) != ""
	}
	if slices.ContainsFunc(statements, hasSid) {
		return
	}
	for i := range statements {
		if s, _ := statements[i].(map[string]any); s != nil {
			s["Sid"] = strconv.Itoa(i + 1)
		}
	}
}

// withoutLists replaces lists of one value, and changes the order of others.
func withoutLists(value any) any {
	switch v := value.(type) {
	case []any:
		if len(v) == 1 {
			return v[0]
		}
		slices.Reverse(v)
	case map[string]any:
		for name := range v {
			v[name] = withoutLists(v[name])
		}
	}
	return value
}

func principalsAsARNs(principals map[string]any) map[string]any {
	if user := Text(principals["CanonicalUser"]); user != "" {
		return map[string]any{"AWS": "arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity E" +
			strings.ToUpper(user[:min(len(user), 13)])}
	}
	if account := Text(principals["AWS"]); accountNumber.MatchString(account) {
		principals["AWS"] = "arn:aws:iam::" + account + ":root"
	}
	return principals
}

// Reverses returns a function that changes the order of a list in an answer.
func Reverses(path string) func(body map[string]any) {
	return func(body map[string]any) {
		if list, _ := Member(body, path).([]any); list != nil {
			slices.Reverse(list)
		}
	}
}

// ReverseElements returns a function that changes the order of elements of XML.
func ReverseElements(element *regexp.Regexp) func(body string) string {
	return func(body string) string {
		all := element.FindAllString(body, -1)
		return element.ReplaceAllStringFunc(body, func(string) string {
			last := all[len(all)-1]
			all = all[:len(all)-1]
			return last
		})
	}
}
