// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// refuseNeighbors refuses to create a record set under a name that has one of another namespace: an AAAA record beside an A record
// gets the users of IPv6, and a weighted record beside another its share of all users. Names with labels
// that begin with an underscore, such as _acme-challenge.www, speak for the name behind them.
func (r *recordSet) refuseNeighbors(ctx context.Context, want RecordSetState) error {
	if want.Ownership.MayUse == nil || want.Validation { // the record of a certificate is the same for everybody
		return nil
	}
	names := []string{want.Name}
	if base := withoutAttributes(want.Name); base != want.Name {
		names = append(names, base)
	}
	for _, name := range names {
		taken, err := r.isTaken(ctx, want, name)
		if err == nil && !taken && want.Type == string(types.RRTypeNs) {
			taken, err = r.delegatesOthers(ctx, want)
		}
		if err != nil {
			return err
		}
		if taken {
			return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.name", Message: fmt.Sprintf(
				"%s has a record set of another namespace, or would delegate the name of one: choose another name, or have an administrator add the namespace of its owner to --shared-namespaces of the operator", strings.TrimSuffix(name, "."))}
		}
	}
	return nil
}

// withoutAttributes returns the part of a name behind its last label that begins with an underscore, as those of RFC 8552 do.
func withoutAttributes(name string) string {
	labels := strings.Split(name, ".")
	for i := len(labels) - 1; i >= 0; i-- {
		if strings.HasPrefix(labels[i], "_") {
			return strings.Join(labels[i+1:], ".")
		}
	}
	return name
}

// isTaken reports whether a name has a record set with an owner record for an object of a namespace that the wanted one may not use. A
// signature does not matter: a record that names another object keeps the claim of that object.
func (r *recordSet) isTaken(ctx context.Context, want RecordSetState, name string) (bool, error) {
	sets, err := r.list(ctx, want.ZoneID, name, func(d types.ResourceRecordSet) bool { return canonicalName(aws.ToString(d.Name)) == name })
	if err != nil || len(sets) == 0 {
		return false, err
	}
	below := "." + strings.TrimPrefix(name, "*.")
	owners, err := r.list(ctx, want.ZoneID, ownerLabel+"0"+below, func(d types.ResourceRecordSet) bool {
		owner := canonicalName(aws.ToString(d.Name))
		return strings.HasPrefix(owner, ownerLabel) && strings.HasSuffix(owner, below)
	})
	if err != nil {
		return false, err
	}
	tagsOf := map[string]map[string]string{}
	for _, d := range owners {
		tagsOf[canonicalName(aws.ToString(d.Name))] = tagsIn(&d)
	}
	for _, d := range sets {
		s := RecordSetState{Name: name, Type: string(d.Type), SetIdentifier: aws.ToString(d.SetIdentifier)}
		if !want.Ownership.MayUse(tagsOf[s.ownerName()]) {
			return true, nil
		}
	}
	return false, nil
}

// delegatesOthers reports whether a name below the wanted one has the owner record of an object of a namespace that the wanted one may not
// use: servers that a record set of type NS names answer for every name below it, whatever the zone has there.
func (r *recordSet) delegatesOthers(ctx context.Context, want RecordSetState) (bool, error) {
	below := "." + want.Name
	sets, err := r.list(ctx, want.ZoneID, want.Name, func(d types.ResourceRecordSet) bool {
		name := canonicalName(aws.ToString(d.Name))
		return name == want.Name || strings.HasSuffix(name, below)
	})
	return slices.ContainsFunc(sets, func(d types.ResourceRecordSet) bool {
		return strings.HasPrefix(canonicalName(aws.ToString(d.Name)), ownerLabel) && !want.Ownership.MayUse(tagsIn(&d))
	}), err
}

// list returns the record sets of a zone from a name on, as long as they are of a kind.
func (r *recordSet) list(ctx context.Context, zone, from string, isOne func(types.ResourceRecordSet) bool) (out []types.ResourceRecordSet, err error) {
	in := &route53.ListResourceRecordSetsInput{HostedZoneId: &zone, StartRecordName: &from, MaxItems: aws.Int32(maxOfName)}
	for {
		page, err := awsclient.Lookup(ctx, r.api.ListResourceRecordSets, in)
		if page == nil {
			return nil, err
		}
		for _, d := range page.ResourceRecordSets {
			if !isOne(d) {
				return out, nil
			}
			out = append(out, d)
		}
		if !page.IsTruncated {
			return out, nil
		}
		in.StartRecordName, in.StartRecordType, in.StartRecordIdentifier = page.NextRecordName, page.NextRecordType, page.NextRecordIdentifier
	}
}
