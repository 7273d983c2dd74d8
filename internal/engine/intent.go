// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Annotations for the records that must survive a crash of the operator.
const (
	// AnnotationHome names the place of the resource: partition/account/region.
	AnnotationHome = "nexus.ai/home"
	// AnnotationIntent is the write-ahead record: the attempt, its time and the resolved references.
	AnnotationIntent = "nexus.ai/intent"
)

// Intent is persisted, together with the finalizer, before the first write to AWS.
type Intent struct {
	// Home is partition/account/region.
	Home string `json:"-"`
	// UID is that of the object the record was written for. A record copied into another object, by a
	// manifest or an export, is not read.
	UID string `json:"uid,omitempty"`
	// Cluster is the ID of the cluster that the object was in; empty in the records of versions that did not write it.
	Cluster string `json:"cluster,omitempty"`
	// Attempt is part of the client token. It rises when the same request must not be repeated: after a
	// create that is known to have failed, for an edited spec, and when the created resource is gone.
	Attempt int `json:"attempt"`
	// At is the time of the last create; zero when the resource existed before.
	At time.Time `json:"at,omitzero"`
	// Refused is true when AWS refused the only create that was ever sent, because the resource existed: the
	// object made nothing.
	Refused bool `json:"refused,omitempty"`
	// Generation is the object's at the last create.
	Generation int64 `json:"generation,omitempty"`
	// Keys are the keys of map fields that were about to be written and that the status did not record yet,
	// such as the names of a role's inline policies.
	Keys Keys `json:"keys,omitempty"`
	// KeysGeneration is the object's when Keys was recorded: a status that was in sync at that generation, or
	// at a later one, records them.
	KeysGeneration int64 `json:"keysGeneration,omitempty"`
	// Tags are the keys of users' tags that were about to be written and that the status may not record yet. They stay
	// until AWS was observed without one of them.
	Tags []string `json:"tags,omitempty"`
	// Paths are the paths of members of documents that were about to be written and that the status may not record yet. They stay as Tags do.
	Paths []string `json:"paths,omitempty"`
	// Hidden are the paths of write-only values of documents that were about to be written and have no recorded versions in the status yet:
	// AWS may show these values.
	Hidden []string `json:"hidden,omitempty"`
	// Identity identifies the resource in AWS, by field of the state.
	Identity map[string]string `json:"identity,omitempty"`
	// Refs are the resolved references by Kind/name: deletion uses these, the targets may be gone.
	Refs map[string]kind.Target `json:"refs,omitempty"`
	// Needed are the names of keys that may encrypt data of the resource, also of those that the spec no longer names. They stay until AWS
	// was observed with another key, and for kinds that keep data under earlier keys as long as the object exists. For a key they are its
	// own aliases.
	Needed []string `json:"needed,omitempty"`
	// Signature is the operator's, of a record that is written with an identity that only a capability lends; see Sign.
	Signature string `json:"signature,omitempty"`
}

// Home formats the place a resource lives in.
func Home(partition, account, region string) string {
	return strings.Join([]string{partition, account, region}, "/")
}

// Annotations returns the annotations that persist the intent.
func (i *Intent) Annotations() (map[string]string, error) {
	b, err := json.Marshal(i)
	if err != nil {
		return nil, fmt.Errorf("encoding the intent: %w", err)
	}
	return map[string]string{AnnotationHome: i.Home, AnnotationIntent: string(b)}, nil
}

// ReadIntent reads the record that was persisted for the object with the UID; nil when there is none.
// An unreadable record is an error: it must never be taken for "nothing was ever created".
func ReadIntent(annotations map[string]string, uid string) (*Intent, error) {
	i, err := readRecord(annotations)
	if err != nil || i == nil || i.UID != "" && i.UID != uid {
		return nil, err
	}
	return i, nil
}

// readEarlier reads the record of the other object that this one was restored or copied from; nil when there is none.
func readEarlier(annotations map[string]string, uid string) *Intent {
	i, err := readRecord(annotations)
	if err != nil || i == nil || i.UID == "" || i.UID == uid { // ReadIntent reports the error
		return nil
	}
	return i
}

func readRecord(annotations map[string]string) (*Intent, error) {
	home, ok := annotations[AnnotationHome]
	if !ok {
		return nil, nil
	}
	i := &Intent{}
	if s, ok := annotations[AnnotationIntent]; ok {
		if err := json.Unmarshal([]byte(s), i); err != nil {
			return nil, fmt.Errorf("annotation %s is unreadable: %w", AnnotationIntent, err)
		}
	}
	i.Home = home
	return i, nil
}

// MayHaveCreated reports whether a resource of the object may exist according to the record.
func (i *Intent) MayHaveCreated() bool { return i != nil && !i.Refused }
