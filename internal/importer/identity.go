// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"fmt"
	"strings"
)

// home says where a resource is. Members that are not known, or that resources of its kind do not have, are empty.
type home struct{ partition, account, region string }

// key tells homes apart.
func (h home) key() string { return h.partition + ":" + h.account + ":" + h.region }

// String names the members that are known.
func (h home) String() string {
	var out []string
	if h.account != "" {
		out = append(out, "account "+h.account)
	}
	if h.region != "" {
		out = append(out, "region "+h.region)
	}
	if h.partition != "" && h.partition != "aws" {
		out = append(out, "partition "+h.partition)
	}
	return strings.Join(out, ", ")
}

// home returns where the resource was said to be: by its ARN, and otherwise by the account and region beside it.
func (r Resource) home() home {
	out := home{partition: r.Partition, account: r.Account, region: r.Region}
	if fields := strings.SplitN(r.ARN, ":", 6); len(fields) == 6 {
		out.partition = fields[1]
		if fields[3] != "" {
			out.region = fields[3]
		}
		if fields[4] != "" {
			out.account = fields[4]
		}
	}
	return out
}

// byARN returns the resource that has an ARN for its name, by its name.
func (im *Importer) byARN(r Resource) Resource {
	if r.ARN != "" || !strings.HasPrefix(r.Name, "arn:") {
		return r
	}
	if named, ok := FromARN(im.Kinds, r.Name); ok && strings.EqualFold(named.Kind, r.Kind) {
		return named
	}
	r.ARN = r.Name
	return r
}

// elsewhere says where a resource is, if not in the account and region that are read: one of the same name may be here.
func (im *Importer) elsewhere(r Resource) string {
	at := r.home()
	differs := func(said, here string) bool { return said != "" && said != here }
	if !differs(at.partition, im.Session.Partition) && !differs(at.account, im.Session.Account) && !differs(at.region, im.Session.Region) {
		return ""
	}
	where := at.String()
	if r.ARN != "" {
		where += " (" + r.ARN + ")"
	}
	remedy := "import it with credentials of that account and --region"
	if r.Address == "" {
		return fmt.Sprintf("it is in %s, and this is %s; %s", where, im.place(), remedy)
	}
	return fmt.Sprintf("the Terraform state has %s in %s, and this is %s; %s", r.Address, where, im.place(), remedy)
}

// another says that the resource of this name is not the one that was named by its ARN.
func another(r Resource, arn string) string {
	if r.ARN == "" || arn == "" || r.ARN == arn {
		return ""
	}
	if r.Address == "" {
		return fmt.Sprintf("the resource of this name has another ARN than %s, namely %s: it was deleted and made again", r.ARN, arn)
	}
	return fmt.Sprintf("the Terraform state has %s as %s, and the resource of this name is %s: it was deleted and made again outside of this state", r.Address, r.ARN, arn)
}
