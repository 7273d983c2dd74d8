// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSameKMSKey(t *testing.T) {
	const id = "1234abcd-12ab-34cd-56ef-1234567890ab"
	const arn = "arn:aws:kms:eu-west-1:123456789012:key/" + id
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{id, arn, true}, {arn, arn, true}, {"alias/x", "arn:aws:kms:eu-west-1:123456789012:alias/x", true},
		{arn, "arn:aws:kms:eu-west-1:210987654321:key/" + id, false}, {id, "34cd-56ef-1234567890ab", false}, {"", arn, false},
		{"x", "alias/x", false}, {"", "", true},
	} {
		if SameKMSKey(c.a, c.b) != c.same || SameKMSKey(c.b, c.a) != c.same {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.same)
		}
	}
}

func TestCustomerKMSKey(t *testing.T) {
	const own = "arn:aws:kms:eu-west-1:123456789012:alias/mine"
	for id, want := range map[string]string{
		"": "", "alias/aws/s3": "", "arn:aws:kms:eu-west-1:123456789012:alias/aws/s3": "",
		"alias/aws/ssm": "alias/aws/ssm", "alias/mine": "alias/mine", own: own, "my-alias/aws/s3": "my-alias/aws/s3",
	} {
		if got := CustomerKMSKey("s3", id); got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

func TestWriteOnlyNeverPrintsItsValue(t *testing.T) {
	w := NewWriteOnly("uid", "hunter2")
	b, err := json.Marshal(map[string]any{"a": w, "b": *w})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{string(b), fmt.Sprintf("%v %+v %#v %s", w, *w, *w, *w)} {
		if strings.Contains(s, "hunter2") {
			t.Errorf("printed %s", s)
		}
	}
	if w.Value() != "hunter2" || w.Version == NewWriteOnly("uid", "other").Version || w.Version == NewWriteOnly("uid2", "hunter2").Version {
		t.Error("value or versions")
	}
}

func TestIsFalse(t *testing.T) {
	if IsFalse(nil) || IsFalse(Ptr(true)) || !IsFalse(Ptr(false)) {
		t.Error("only a declared false is false")
	}
}

func TestKeySet(t *testing.T) {
	if got := SortedKeys(KeySet("b", "", "a")); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
	if got := KeySet(""); got == nil || len(got) > 0 {
		t.Errorf("%v: a declared empty setting is not an undeclared one", got)
	}
}

func TestFinalSnapshot(t *testing.T) {
	sc := Scope{UID: "uid"}
	name := sc.FinalSnapshot("orders", "", false)
	if !strings.HasPrefix(name, "orders-final-") || len(name) != len("orders-final-")+8 || name != sc.FinalSnapshot("orders", "", false) ||
		name == (Scope{UID: "other"}).FinalSnapshot("orders", "", false) {
		t.Errorf("%s", name)
	}
	if sc.FinalSnapshot("orders", "last", false) != "last" || sc.FinalSnapshot("orders", "", true) != "" {
		t.Error("what the spec says")
	}
}

func TestBusyUnless_NamesStatesThatAreNotSettled(t *testing.T) {
	for state, want := range map[string]string{"": "", "ACTIVE": "", "TOMORROW": "the table is TOMORROW"} {
		if got := BusyUnless("the table", state, "ACTIVE"); got != want {
			t.Errorf("%q: %q, want %q", state, got, want)
		}
	}
}

func TestFalseIfAbsent_KeepsWhatIsThere(t *testing.T) {
	var absent *bool
	on := Ptr(true)
	if FalseIfAbsent(&absent, &on); absent == nil || *absent || !*on {
		t.Errorf("%v, %v", absent, *on)
	}
}
