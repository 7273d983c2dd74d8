// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// DefaultRegion is the region of an inventory when no request has named another.
const DefaultRegion = "ap-southeast-1"

// Inventory lists the existing resources of the emulator, by kind: "s3/bucket", "dynamodb/table", "iam/role" and so on. It leaves out a
// kind without resources. It is not recorded and needs no rights. Without regions it looks in DefaultRegion and in every region of the
// ledger. A resource outside the first of these regions is written region:name. Secrets in their recovery window are listed as "name
// (scheduled for deletion)".
//
// Two inventories that are equal mean that nothing was leaked between them.
func (p *Proxy) Inventory(ctx context.Context, regions ...string) (map[string][]string, error) {
	if len(regions) == 0 {
		regions = p.regions()
	}
	return p.InventoryOf(ctx, anyKey, regions...)
}

// InventoryOf is an inventory of the account of an access key. For a key that AssumeRole returned, this is another account than Account.
func (p *Proxy) InventoryOf(ctx context.Context, accessKey string, regions ...string) (map[string][]string, error) {
	found, err := inventory(ctx, p.lister(accessKey, ""), regions)
	for _, s := range p.Services {
		own, has := s.(ownInventory)
		if !has || err != nil {
			continue
		}
		if kind, names := own.OwnInventory(accessKey, regions); len(names) > 0 {
			found[kind] = names
		}
	}
	return found, err
}

// InventoryAt is an inventory asked of an endpoint, as any client would.
func (c *Catalog) InventoryAt(ctx context.Context, url string, regions ...string) (map[string][]string, error) {
	if len(regions) == 0 {
		regions = []string{DefaultRegion}
	}
	return inventory(ctx, &Lister{url: strings.TrimSuffix(url, "/"), key: anyKey, trip: newCore(url, c).roundTrip, catalog: c}, regions)
}

// anyKey is an access key that moto does not know, and so one of its default account.
const anyKey = "inventory"

func inventory(ctx context.Context, l *Lister, regions []string) (map[string][]string, error) {
	found := map[string][]string{}
	for i, region := range regions {
		for _, k := range l.catalog.kinds() {
			if k.Global && i > 0 {
				continue
			}
			l.region = region
			names, err := k.List(ctx, l)
			for again := 0; err != nil && again < 3; again++ { // a list fails if a resource is deleted between two of its requests
				names, err = k.List(ctx, l)
			}
			if err != nil {
				return nil, fmt.Errorf("inventory of %s in %s: %w", k.Name, region, err)
			}
			for _, name := range names {
				if i > 0 {
					name = region + ":" + name
				}
				found[k.Name] = append(found[k.Name], name)
			}
		}
	}
	for _, names := range found {
		slices.Sort(names)
	}
	return found, nil
}

func (p *Proxy) regions() []string {
	regions := []string{DefaultRegion}
	for _, c := range p.Calls() {
		if c.Region != "" && !slices.Contains(regions, c.Region) {
			regions = append(regions, c.Region)
		}
	}
	return regions
}

// InventoryKind lists one kind of resource.
type InventoryKind struct {
	Name   string
	Global bool
	List   func(context.Context, *Lister) ([]string, error)
}

// ownInventory lists the resources that the emulator itself keeps for a service.
type ownInventory interface {
	OwnInventory(accessKey string, regions []string) (kind string, names []string)
}

// Lister asks an endpoint in one region, with an access key that stands for the account.
type Lister struct {
	catalog *Catalog
	url     string
	key     string
	trip    func(*http.Request) (*Answer, error)
	region  string
}

// Send makes a request of a protocol that has one path, and returns the body of an answer without an error.
func (l *Lister) Send(ctx context.Context, service, method, contentType, target string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, l.url+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	return l.answerTo(r, service)
}

// Get reads a path of a REST service.
func (l *Lister) Get(ctx context.Context, service, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+path, nil)
	if err != nil {
		return nil, err
	}
	return l.answerTo(r, service)
}

func (l *Lister) answerTo(r *http.Request, service string) ([]byte, error) {
	r.Header.Set("Authorization", scope(l.key, l.region, service))
	a, err := l.trip(r)
	if err != nil {
		return nil, err
	}
	if a.Status != http.StatusOK {
		return nil, fmt.Errorf("status %d: %.300s", a.Status, a.Body)
	}
	return a.Body, nil
}

// JSON reads all pages of an operation of a JSON service.
func (l *Lister) JSON(ctx context.Context, service, target string, request map[string]any) ([]map[string]any, error) {
	token := cmp.Or(l.catalog.of(service).Pages, [2]string{"NextToken", "NextToken"})
	var all []map[string]any
	for {
		text, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		body, err := l.Send(ctx, service, http.MethodPost, "application/x-amz-json-1.1", target, text)
		if err != nil {
			return nil, err
		}
		var page map[string]any
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, err
		}
		all = append(all, page)
		next, _ := page[token[1]].(string)
		if next == "" {
			return all, nil
		}
		request[token[0]] = next
	}
}

// ListJSON lists the strings under a member, or a member of its objects. The request has members where a service needs some: names
// and values by turns.
func ListJSON(service, target, list, key string, members ...any) func(context.Context, *Lister) ([]string, error) {
	return func(ctx context.Context, l *Lister) ([]string, error) {
		request := map[string]any{}
		for i := 0; i < len(members); i += 2 {
			request[fmt.Sprint(members[i])] = members[i+1]
		}
		pages, err := l.JSON(ctx, service, target, request)
		var names []string
		for _, page := range pages {
			items, _ := page[list].([]any)
			for _, item := range items {
				if key != "" {
					item, _ = item.(map[string]any)[key]
				}
				names = append(names, l.catalog.shortName(fmt.Sprint(item)))
			}
		}
		return names, err
	}
}

// ListXML lists the texts of an element in the answer to a query request.
func ListXML(service, action, version, element string) func(context.Context, *Lister) ([]string, error) {
	pattern := regexp.MustCompile(`<` + element + `>([^<]*)</` + element + `>`)
	marker := regexp.MustCompile(`<(?:Marker|NextToken|nextToken)>([^<]+)</`)
	return func(ctx context.Context, l *Lister) ([]string, error) {
		var names []string
		more := ""
		for {
			form := "Action=" + action + "&Version=" + version + more
			body, err := l.Send(ctx, service, http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form))
			if err != nil {
				return nil, err
			}
			for _, m := range pattern.FindAllSubmatch(body, -1) {
				names = append(names, l.catalog.shortName(string(m[1])))
			}
			next := marker.FindSubmatch(body)
			if next == nil {
				return names, nil
			}
			more = "&Marker=" + url.QueryEscape(string(next[1])) + "&NextToken=" + url.QueryEscape(string(next[1]))
		}
	}
}

// Diff compares two inventories and lists the entries that only one of them has, one per line; "" if they are equal.
func (c *Catalog) Diff(before, after map[string][]string) string {
	var lines []string
	for _, kind := range c.kinds() {
		for _, name := range before[kind.Name] {
			if !slices.Contains(after[kind.Name], name) {
				lines = append(lines, "- "+kind.Name+" "+name)
			}
		}
		for _, name := range after[kind.Name] {
			if !slices.Contains(before[kind.Name], name) {
				lines = append(lines, "+ "+kind.Name+" "+name)
			}
		}
	}
	return strings.Join(lines, "\n")
}
