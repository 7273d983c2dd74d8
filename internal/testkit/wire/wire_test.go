// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"net/http"
	"slices"
	"testing"
)

func TestGlobMatchesAcrossSlashes(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "anything", true}, {"*", "a/b", true}, {"a*", "a/b/c", true}, {"a/?", "a/b", true}, {"Put*", "PutObject", true},
		{"Put*", "GetObject", false}, {"a", "ab", false}, {"[", "[", true}, {"[", "x", false},
	} {
		if got := Glob(tt.pattern, tt.s); got != tt.want {
			t.Errorf("Glob(%q, %q) = %v", tt.pattern, tt.s, got)
		}
	}
}

func TestARuleActsOnItsShareOfTheRequests(t *testing.T) {
	for _, tt := range []struct {
		share Share
		want  []int
	}{
		{Share{}, []int{1, 2, 3, 4, 5, 6, 7, 8}},
		{Share{Nth: 3}, []int{3}},
		{Share{Times: 2}, []int{1, 2}},
		{Share{Percent: 50}, []int{2, 4, 6, 8}},
		{Share{Percent: 50, Times: 3}, []int{2, 4, 6}},
	} {
		var rules Rules[int, string]
		rule := rules.Add(func(int) bool { return true }, tt.share, "x")
		var got []int
		for i := 1; i <= 8; i++ {
			if rules.Match(i) == rule {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, tt.want) || rule.Hits() != len(tt.want) {
			t.Errorf("%+v: %v, %d hits", tt.share, got, rule.Hits())
		}
	}
}

func TestTheFirstRuleThatWantsARequestGetsIt(t *testing.T) {
	var rules Rules[int, string]
	rules.Add(func(i int) bool { return i > 5 }, Share{}, "large")
	all := rules.Add(func(int) bool { return true }, Share{}, "all")
	if got := rules.Match(9).Action + " " + rules.Match(1).Action; got != "large all" {
		t.Errorf("got %s", got)
	}
	all.Remove()
	if rules.Match(1) != nil {
		t.Error("a removed rule acts")
	}
	select {
	case <-all.Released():
	default:
		t.Error("a removed rule still holds")
	}
	rules.Clear()
	if rules.Match(9) != nil {
		t.Error("a cleared rule acts")
	}
}

func TestAClosedListenerLetsNothingStart(t *testing.T) {
	entered, finish := make(chan struct{}), make(chan struct{})
	l, err := Listen("x", func(l *Listener, _ http.ResponseWriter, _ *http.Request) {
		if l.Enter() {
			close(entered)
			<-finish
			l.Leave()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if answer, err := http.Get(l.URL()); err == nil {
			answer.Body.Close()
		}
	}()
	<-entered
	closed := make(chan error)
	go func() { closed <- l.Close() }()
	<-l.Closing()
	select {
	case <-closed:
		t.Error("Close did not wait for a request at the backend")
	default:
	}
	if l.Enter() {
		t.Error("a request started after Close")
	}
	close(finish)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
