// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// MergeTags returns the whole tag set for APIs that replace it: the tags found, less the removed keys,
// plus the wanted ones. AWS's own tags (aws:…) are kept: S3 refuses a request that leaves them out.
func MergeTags(have, want map[string]string, remove []string) map[string]string {
	out := maps.Clone(want)
	if out == nil {
		out = map[string]string{}
	}
	for k, v := range have {
		if _, ok := out[k]; !ok {
			out[k] = v
		}
	}
	for _, k := range remove {
		delete(out, k)
	}
	return out
}

// SortedKeys returns a map's keys in order, so that requests and plans are the same every time.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// SortedValues returns a map's values in the order of their keys.
func SortedValues[V any](m map[string]V) []V {
	out := make([]V, 0, len(m))
	for _, k := range SortedKeys(m) {
		out = append(out, m[k])
	}
	return out
}

// InOrderOf returns the wanted list where AWS has the same elements in another order, which means the same to it.
func InOrderOf[T cmp.Ordered](want, have []T) []T {
	return Either(slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(have))), want, have)
}

// Only returns the entries of m under keys.
func Only[V any](m map[string]V, keys []string) map[string]V {
	out := make(map[string]V, len(keys))
	for _, k := range keys {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	return out
}

// Either returns yes if the condition holds, and no otherwise.
func Either[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

// BusyUnless returns the text of Seen.Busy for a thing that is in a state: none where the state is a settled one, or AWS shows none. So
// a state that AWS adds is waited for under its name.
func BusyUnless[T ~string](thing string, state T, settled ...T) string {
	if state == "" || slices.Contains(settled, state) {
		return ""
	}
	return thing + " is " + string(state)
}

// FalseIfAbsent sets the members that an answer leaves out to false: AWS may leave out a setting that is off.
func FalseIfAbsent(members ...**bool) {
	for _, m := range members {
		if *m == nil {
			*m = new(bool)
		}
	}
}

// IsFalse reports whether a value is declared and is false, such as a deletion protection that a deletion may lift.
func IsFalse(v *bool) bool { return v != nil && !*v }

// KeySet returns a map with the given keys, without empty ones. It is the form of a setting that a delete and a create change: parts settle
// maps key by key.
func KeySet(keys ...string) map[string]*bool {
	out := map[string]*bool{}
	for _, k := range keys {
		if k != "" {
			out[k] = Ptr(true)
		}
	}
	return out
}

// FinalSnapshot returns the name of the snapshot that the deletion of a resource makes: the one that the spec names, and
// otherwise one that is the same in every pass, so that a deletion that is sent again makes no second snapshot. "" is none.
func (sc Scope) FinalSnapshot(id, named string, skip bool) string {
	return Either(skip, "", cmp.Or(named, sc.withUID(id+"-final")))
}

// OtherSnapshot returns the name of the snapshot that a deletion makes where the named one exists already, such as from an earlier
// life of the same manifest; "" where none is named.
func (sc Scope) OtherSnapshot(named string) string {
	const longest = 255 - 9
	return Either(named == "", "", sc.withUID(strings.TrimRight(named[:min(len(named), longest)], "-")))
}

// withUID adds a hash of the object's UID to a name.
func (sc Scope) withUID(name string) string {
	sum := sha256.Sum256([]byte(sc.UID))
	return name + "-" + hex.EncodeToString(sum[:4])
}

// Ptr returns a pointer to a copy of v.
func Ptr[T any](v T) *T { return &v }

// WriteOnly is a value that AWS accepts and never returns, such as a database password. The engine
// writes it when its version differs from the one that the status recorded after the last write.
// It prints as stars.
type WriteOnly struct {
	// Version identifies the value without revealing it.
	Version string
	value   string
}

// NewWriteOnly returns the value with a version derived from it and from the object's UID, so that the
// versions of two objects cannot be compared.
func NewWriteOnly(uid, value string) *WriteOnly {
	mac := hmac.New(sha256.New, []byte(uid))
	mac.Write([]byte(value))
	return &WriteOnly{Version: hex.EncodeToString(mac.Sum(nil)[:16]), value: value}
}

// Value returns the value itself, for the AWS call.
func (w WriteOnly) Value() string { return w.value }

const stars = "***"

// String implements fmt.Stringer.
func (WriteOnly) String() string { return stars }

// GoString implements fmt.GoStringer.
func (WriteOnly) GoString() string { return stars }

// MarshalJSON implements json.Marshaler.
func (WriteOnly) MarshalJSON() ([]byte, error) { return []byte(`"` + stars + `"`), nil }

// SameKMSKey reports whether two identifiers of a KMS key, each an ID, an ARN or an alias, name the same key.
// AWS answers with an ID or an ARN whatever was sent.
func SameKMSKey(a, b string) bool {
	return a == b || a != "" && b != "" && keyName(a) == keyName(b) && (!isARN(a) || !isARN(b))
}

// CustomerKMSKey returns "" for the key that AWS manages for a service, alias/aws/SERVICE, and any other
// identifier as it is. AWS uses its key where none is named.
func CustomerKMSKey(service, id string) string {
	managed := "alias/aws/" + service
	return Either(id == managed || strings.HasSuffix(id, ":"+managed), "", id)
}

// IsKMSAlias reports whether an identifier of a KMS key is an alias or its ARN.
func IsKMSAlias(id string) bool {
	return strings.HasPrefix(id, "alias/") || strings.Contains(id, ":alias/")
}

// keyName is the last part of a key's ARN: "key/ID" or "alias/NAME", without "key/".
func keyName(s string) string {
	if isARN(s) {
		s = s[strings.LastIndex(s, ":")+1:]
	}
	return strings.TrimPrefix(s, "key/")
}

func isARN(s string) bool { return strings.HasPrefix(s, "arn:") }

// KMSKeyAs returns want if have names the same key, so that the two compare equal; otherwise have.
func KMSKeyAs(want, have *string) *string {
	if want != nil && have != nil && SameKMSKey(*want, *have) {
		return want
	}
	return have
}

// SetChanged sets *field to value when a change lies at or below the path. It is for requests that leave
// members unchanged which do not differ.
func SetChanged[T any](d Diff, path string, field *T, value T) {
	if d.Under(path) {
		*field = value
	}
}

// PartitionOf returns the partition of an ARN.
func PartitionOf(arn string) string {
	_, rest, _ := strings.Cut(arn, ":")
	partition, _, _ := strings.Cut(rest, ":")
	return partition
}
