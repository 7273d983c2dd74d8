// SPDX-License-Identifier: Apache-2.0

package part

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Expect records the expected proof of a child.
func (k *Compiler) Expect(id string, p Proof) Proof {
	p.UID = PlaceholderFor(id)
	k.Expected[id] = p
	return p
}

// ExpectParameters records that every declared parameter will exist.
func (k *Compiler) ExpectParameters(id string, values map[string]string) Proof {
	return k.Expect(id, Proof{ARN: PlaceholderFor(id), Names: slices.Sorted(maps.Keys(values))})
}

// Proof returns the proof of the resource that a child owns; zero when nothing is proven.
func (k *Compiler) Proof(id string) Proof {
	p := k.Facts.Owned[id]
	if k.Read != nil {
		k.Read[id] = p
	}
	return p
}

// Proof describes the resource that a child owns in AWS.
type Proof struct {
	// ARN is that of the child's resource.
	ARN string
	// UID is the child's, which its resources carry as a tag.
	UID string
	// Names are the SSM parameters of a parameter set, relative to its path.
	Names []string
	// Client is the ID of the app client of a user pool.
	Client string
	// Values are the exported values of a resource that are known, by their variables.
	Values map[string]string
	// Settled is true for a resource that is as declared. No more values are expected of it.
	Settled bool
	// Foreign is true for an existing store that an object of another namespace owns, and Neighbor for one that another object of the same
	// namespace owns.
	Foreign, Neighbor bool
}

// AddGrant adds a child to the resources that the application's role gets rights on. The role waits for all of them, so that its policy is
// written once.
func (k *Compiler) AddGrant(id string) { k.Grants = append(k.Grants, id) }

// Owned returns the ARN if the child owns the resource with it, and "" otherwise.
func (k *Compiler) Owned(id, arn string) string {
	if k.Expected != nil {
		return k.Expect(id, Proof{ARN: arn}).ARN
	}
	if k.AssumeOwned || k.Proof(id).ARN == arn {
		return arn
	}
	return ""
}

// ProvenARN returns the ARN that AWS assigned to the resource of a child, or a placeholder until the child is proven to own it.
func (k *Compiler) ProvenARN(id string) string {
	return cmp.Or(k.Proof(id).ARN, PlaceholderFor(id))
}

// Assigned returns the ARN of a child if AWS chooses the last characters of the ARN; "" when the child is not proven to own it.
func (k *Compiler) Assigned(id, begin string, chosen int) string {
	arn := k.Proof(id).ARN
	if k.Expected != nil {
		arn = k.Expect(id, Proof{ARN: begin + PlaceholderFor(id)}).ARN
	}
	if k.AssumeOwned {
		arn = begin + strings.Repeat("?", chosen)
	}
	if !strings.HasPrefix(arn, begin) {
		return ""
	}
	return arn
}
