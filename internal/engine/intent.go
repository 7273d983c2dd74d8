package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Annotations that carry what the operator must remember across a crash.
const (
	// AnnotationHome is where the resource lives: partition/account/region.
	AnnotationHome = "nexus.ai/home"
	// AnnotationIntent is the write-ahead record: the attempt, its time and the resolved references.
	AnnotationIntent = "nexus.ai/intent"
	// AnnotationPaused "true" freezes writes and deletion.
	AnnotationPaused = "nexus.ai/paused"
	// AnnotationReconcileAt asks for a check now; any new value does.
	AnnotationReconcileAt = "nexus.ai/reconcile-requested-at"
)

// Intent is persisted, together with the finalizer, before the first write to AWS.
type Intent struct {
	// Home is partition/account/region.
	Home string `json:"-"`
	// Attempt is raised before a create is tried anew after a known failure; it is part of the token.
	Attempt int `json:"attempt"`
	// At is when the resource was last seen to be absent before our create; zero when it existed.
	At time.Time `json:"at,omitzero"`
	// Refs are the resolved references by Kind/name: deletion uses these, the targets may be gone.
	Refs map[string]kind.Target `json:"refs,omitempty"`
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

// ReadIntent reads what was persisted; nil when nothing was. An unreadable record is an error: it must
// never be taken for "nothing was ever created".
func ReadIntent(annotations map[string]string) (*Intent, error) {
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

// clockSkew is how far AWS's clock may run behind ours when a creation time is compared.
const clockSkew = 2 * time.Second

// proves says whether a resource that carries nobody's tags must be the fruit of our own attempt: we
// saw that it was absent, recorded that, and it was created afterwards.
func (i *Intent) proves(created time.Time) bool {
	return i != nil && !i.At.IsZero() && !created.IsZero() && !created.Before(i.At.Add(-clockSkew).Truncate(time.Second))
}
