// SPDX-License-Identifier: Apache-2.0

package proxy

// Catalog has the facts of all services.
type Catalog struct {
	all []*Facts
	by  map[string]*Facts // by prefix
}

// NewCatalog returns the facts of services, which need no core for it.
func NewCatalog(services []Service) *Catalog {
	c := &Catalog{by: map[string]*Facts{}}
	for _, s := range services {
		f := s.Facts()
		c.all, c.by[f.Prefix] = append(c.all, f), f
	}
	return c
}

// of returns the facts of a service; those of one that the emulator does not know are empty.
func (c *Catalog) of(service string) *Facts {
	if c != nil && c.by[service] != nil {
		return c.by[service]
	}
	return &Facts{Prefix: service}
}

// find returns the facts of the first service that meets a condition; nil for none.
func (c *Catalog) find(holds func(*Facts) bool) *Facts {
	for _, f := range c.all {
		if holds(f) {
			return f
		}
	}
	return nil
}

// kinds lists the kinds in the inventories of all services.
func (c *Catalog) kinds() []InventoryKind {
	var out []InventoryKind
	for _, f := range c.all {
		out = append(out, f.Inventory...)
	}
	return out
}

// Rewrites returns the catalog of the fields that AWS rewrites. Each entry changes every answer, so that a kind that compares the forms
// writes without end.
func (c *Catalog) Rewrites() []Rewrite {
	var out []Rewrite
	for _, f := range c.all {
		out = append(out, f.Rewrites...)
	}
	return out
}

// action is the action of IAM that an operation needs.
func (c *Catalog) action(service, op string) string {
	if action := c.of(service).Rights.Action; action != nil {
		op = action(op)
	}
	return service + ":" + op
}

// facts returns the facts of the service of a request.
func (d *Request) facts() *Facts { return d.catalog.of(d.Service) }

// ShortName returns the name within an ARN or a queue's URL, and any other text unchanged.
func (d *Request) ShortName(s string) string { return d.catalog.shortName(s) }
