// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// maxString limits how many characters one string of a TXT record can have.
	// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/ResourceRecordTypes.html#TXTFormat
	maxString = 255
	ownerTTL  = 300
)

// ownerLabel begins the name of every owner record. No other record may have such a label.
const ownerLabel = "_nexus-"

// tagSignature is the key of the signature in an owner record.
const tagSignature = wellknown.Prefix + "signature"

// ownerTagKeys holds the keys that an owner record must have, in addition to its signature.
var ownerTagKeys = []string{wellknown.TagCluster, wellknown.TagManagedBy, wellknown.TagOwner, wellknown.TagOwnerUID}

// ownerName is the name of the TXT record that holds the owner tags of a record set. It lies below the name of the record set,
// so that it is in the same zone, and differs for each type and set identifier.
func (s RecordSetState) ownerName() string {
	sum := sha256.Sum256([]byte(s.Name + "/" + s.Type + "/" + s.SetIdentifier))
	return ownerLabel + hex.EncodeToString(sum[:6]) + "." + strings.TrimPrefix(s.Name, "*.")
}

// isReserved reports whether a canonical name has a label that only owner records have.
func isReserved(name string) bool {
	return strings.HasPrefix(name, ownerLabel) || strings.Contains(name, "."+ownerLabel)
}

// ownership holds the data that decides about the owner record of a record set.
type ownership struct {
	// Signer signs owner records; nil in a plan that believes them.
	Signer kind.Signer
	// MayUse is that of kind.Search; nil where nothing is judged.
	MayUse func(tags map[string]string) bool
	// Recorded is true where the status says that the record set was the object's at the last look.
	Recorded bool
}

// signed adds to the owner tags the signature of the owner record that holds them. Anyone who can write to the zone can write
// owner records.
func (s RecordSetState) signed(tags map[string]string) (map[string]string, error) {
	if s.Ownership.Signer == nil || len(tags) == 0 {
		return tags, nil
	}
	signature, err := s.Ownership.Signer.Sign(s.statement(tags))
	out := maps.Clone(tags)
	out[tagSignature] = signature
	return out, err
}

// statement returns the signed text: the owner of one record set of one zone.
func (s RecordSetState) statement(tags map[string]string) string {
	parts := []string{s.ZoneID, s.Name, s.Type, s.SetIdentifier}
	for _, key := range ownerTagKeys {
		parts = append(parts, tags[key])
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "" // strings can always be encoded
	}
	return string(text)
}

// believed returns those tags of an owner record that count: all if the operator signed them. All count, too, if they are another object's,
// because no one takes its record set. An earlier version wrote no signature: its record counts for the object if the object's status
// records the record set.
func (s RecordSetState) believed(tags map[string]string) (map[string]string, error) {
	if s.Ownership.Signer == nil || len(tags) == 0 {
		delete(tags, tagSignature) // a plan without the keys does not judge it
		return tags, nil
	}
	complete := !slices.ContainsFunc(ownerTagKeys, func(key string) bool { return tags[key] == "" })
	valid, err := s.Ownership.Signer.Verify(s.statement(tags), tags[tagSignature])
	own := isOwn(s.Tags, tags) || tags[wellknown.TagOwner] == s.Tags[wellknown.TagOwner]
	if err != nil || complete && valid || own && !s.Ownership.Recorded {
		return kind.Either(complete && valid, tags, nil), err
	}
	delete(tags, tagSignature)
	return tags, nil
}

// inText escapes the separators of tags and strings; the ID of a cluster may be any text.
var inText = strings.NewReplacer("%", "%25", ",", "%2C", `"`, "%22", `\`, "%5C")

// ownerRecord is the TXT record that holds the tags.
func (s RecordSetState) ownerRecord(tags map[string]string) *types.ResourceRecordSet {
	var parts []string
	for _, key := range kind.SortedKeys(tags) {
		parts = append(parts, key+"="+inText.Replace(tags[key]))
	}
	var quoted []string
	for chunk := range slices.Chunk([]byte(strings.Join(parts, ",")), maxString) {
		quoted = append(quoted, `"`+string(chunk)+`"`)
	}
	return &types.ResourceRecordSet{Name: kind.Ptr(s.ownerName()), Type: types.RRTypeTxt, TTL: aws.Int64(ownerTTL),
		ResourceRecords: []types.ResourceRecord{{Value: kind.Ptr(strings.Join(quoted, " "))}}}
}

// tagsIn returns the tags that an owner record holds; nil for none.
func tagsIn(owner *types.ResourceRecordSet) map[string]string {
	if owner == nil || len(owner.ResourceRecords) == 0 {
		return nil
	}
	text := strings.ReplaceAll(strings.Trim(aws.ToString(owner.ResourceRecords[0].Value), `"`), `" "`, "")
	tags := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		if plain, err := url.PathUnescape(value); err == nil && plain != "" {
			tags[key] = plain
		}
	}
	return tags
}

// isOwn reports whether the tags are those of the object with the wanted ones, and not of an earlier one of its name.
func isOwn(want, have map[string]string) bool {
	uid := want[wellknown.TagOwnerUID]
	return uid != "" && have[wellknown.TagOwnerUID] == uid
}

// refuseClaimed refuses to create a record set if its owner record is another object's: that one may create its record set again.
func refuseClaimed(want, have RecordSetState) error {
	if have.Owner == nil || isOwn(want.Tags, have.Tags) || have.Tags[wellknown.TagOwner] == want.Tags[wellknown.TagOwner] && have.Tags[wellknown.TagCluster] == want.Tags[wellknown.TagCluster] {
		return nil
	}
	owner := "an object of another namespace, which the record names for those who may read the zone"
	if want.Ownership.MayUse == nil || want.Ownership.MayUse(have.Tags) {
		owner = fmt.Sprintf("another owner: %s=%s", wellknown.TagOwner, have.Tags[wellknown.TagOwner])
	}
	return &status.Stalled{Reason: status.ReasonConflict, Message: fmt.Sprintf("the record set does not exist, and its owner record %s names %s; delete that TXT record if its owner is gone",
		want.ownerName(), owner)}
}

// explainBatch moves the messages of a refused batch to where every other error has its message; the SDK has a fixed text there.
func explainBatch(err error) error {
	if batch, ok := errors.AsType[*types.InvalidChangeBatch](err); ok && len(batch.Messages) > 0 {
		batch.Message = kind.Ptr(strings.Join(batch.Messages, "; "))
	}
	return err
}
