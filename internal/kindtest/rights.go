// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// limitedKey is the access key of an operator that has the rights of the printed policies alone. Tests set their scenes with another.
const limitedKey = "AKIALIMITEDOPERATOR1"

// rights holds the rights that the policies for a kind print, and those that AWS asked for.
type rights struct {
	meta          kind.Meta
	printed, used map[string]bool // each is an action and a resource
	limits        []*emulator.Limited
}

func newRights(e engine.Entry) *rights {
	return &rights{meta: e.Meta(), printed: map[string]bool{}, used: map[string]bool{}}
}

// Limited returns a way to AWS with the rights of the printed policies for a kind alone, with or without those to adopt. Keys that
// the emulator does not have carry the operator's tag for it.
func (r *Rig) Limited(t testing.TB, meta kind.Meta, adopt bool) aws.Config {
	t.Helper()
	config, _, _ := r.limited(t, meta, adopt)
	return config
}

func (r *Rig) limited(t testing.TB, meta kind.Meta, adopt bool) (aws.Config, *emulator.Limited, []iampolicy.Document) {
	t.Helper()
	meta.Judges = nil // the contract suite resolves references itself
	documents, _, err := permissions.Operator([]kind.Meta{meta},
		permissions.Scope{Partition: r.Partition, Account: Account, Region: r.Region, Adopt: adopt})
	if err != nil {
		t.Fatal(err)
	}
	var policies []string
	for _, d := range documents {
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		policies = append(policies, text)
	}
	config := r.ofEngine()
	config.Credentials = credentials.NewStaticCredentialsProvider(limitedKey, "secret", "")
	return config, r.AWS.Limit(limitedKey, map[string]string{wellknown.TagManagedBy: wellknown.OperatorName}, policies...), documents
}

// limit enforces the rights that AWS asks for on the engine's calls. The calls have the rights that the policies for this kind alone allow.
func (s *Subject) limit(t *testing.T, of *rights) {
	t.Helper()
	config, limited, documents := s.Rig.limited(t, of.meta, s.AllowAdoption)
	s.config, of.limits = config, append(of.limits, limited)
	for _, d := range documents {
		for _, statement := range d.Statement {
			for _, action := range statement.Action {
				for _, resource := range statement.Resource {
					of.printed[action+" "+resource] = true
				}
			}
		}
	}
}

// compare reports rights that are printed and were never asked for.
func (r *rights) compare(t *testing.T) {
	t.Helper()
	for _, l := range r.limits {
		for _, used := range l.Used() {
			r.used[used] = true
		}
	}
	for _, right := range slices.Sorted(maps.Keys(r.printed)) {
		action, resource, _ := strings.Cut(right, " ")
		key := action
		if parts := strings.SplitN(resource, ":", 6); len(parts) == 6 {
			key = fmt.Sprintf("%s %s", action, parts[5])
		}
		switch why := unreached[key]; {
		case slices.Contains(r.meta.Optional, action): // as in Meta, no row must use them
		case r.used[right] && why != "":
			t.Errorf("the reason in unreached about %q is about nothing", key)
		case !r.used[right] && why == "":
			t.Errorf("the policies allow %s, which no row needs: take it out, write a row, or write down why in unreached: %q", right, key)
		}
	}
}

// unreached are the rights that no row needs, with the reason.
var unreached = map[string]string{
	"glue:GetTables table/*/*":                    "AWS lists the tables to which the caller has this right, and hides others",
	"route53:AssociateVPCWithHostedZone vpc/*":    vpcOfZone,
	"route53:DisassociateVPCFromHostedZone vpc/*": vpcOfZone,
}

const vpcOfZone = "the reference has this type for Route 53 and names no action for it; the association names a VPC of any account and region"
