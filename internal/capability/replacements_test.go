// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// podsOf returns n pods of that age with UIDs that begin with a letter.
func podsOf(letter string, n int, age time.Duration) []corev1.Pod {
	var out []corev1.Pod
	for i := range n {
		name := fmt.Sprint(letter, i)
		out = append(out, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(noon.Add(-age))}})
	}
	return out
}

func replacedAgo(d string, ages ...time.Duration) []nexusv1.ReplacedPod {
	var out []nexusv1.ReplacedPod
	for i, age := range ages {
		out = append(out, nexusv1.ReplacedPod{Deployment: d, Name: "x", UID: fmt.Sprint("x", i), Time: metav1.NewTime(noon.Add(-age))})
	}
	return out
}

func TestPodsToReplace_StopAfterThreeThatWereOfNoUse(t *testing.T) {
	type pods = map[string]capability.CredentialPods
	minute := time.Minute
	for name, tc := range map[string]struct {
		records []nexusv1.ReplacedPod
		of      pods
		chosen  int
		kept    int
		bounded bool
	}{
		"nothing lacks":                   {nil, pods{"a": {Have: podsOf("h", 2, minute)}}, 0, 0, false},
		"one of two lacks":                {nil, pods{"a": {Have: podsOf("h", 1, minute), Lack: podsOf("l", 1, minute)}}, 1, 1, false},
		"a pod has just started":          {nil, pods{"a": {Lack: podsOf("l", 1, time.Second)}}, 0, 0, false},
		"five lack":                       {nil, pods{"a": {Lack: podsOf("l", 2, minute)}, "b": {Lack: podsOf("m", 3, minute)}}, 3, 3, true},
		"three were of no use":            {replacedAgo("a", minute, minute, minute), pods{"a": {Lack: podsOf("l", 1, 30*time.Second)}}, 0, 3, true},
		"three were long ago":             {replacedAgo("a", 11*minute, 11*minute, 11*minute), pods{"a": {Lack: podsOf("l", 1, minute)}}, 1, 4, false},
		"six were long ago":               {replacedAgo("a", 25*minute, 25*minute, 25*minute, 11*minute, 11*minute, 11*minute), pods{"a": {Lack: podsOf("l", 1, minute)}}, 0, 4, true},
		"another was tried long ago":      {replacedAgo("a", 25*minute, 25*minute, 25*minute, 11*minute, 11*minute, 11*minute), pods{"a": {Lack: podsOf("l", 1, minute)}, "b": {Lack: podsOf("m", 1, minute)}}, 1, 5, true},
		"what came long ago helped":       {replacedAgo("a", 25*minute, 25*minute, 25*minute, 11*minute, 11*minute, 11*minute), pods{"a": {Have: podsOf("h", 1, 5*minute), Lack: podsOf("l", 1, minute)}}, 1, 1, false},
		"three helped":                    {replacedAgo("a", minute, minute, minute), pods{"a": {Have: podsOf("h", 3, 30*time.Second), Lack: podsOf("l", 1, 2*minute)}}, 1, 4, false},
		"those that helped another":       {replacedAgo("a", minute, minute, minute), pods{"a": {Lack: podsOf("l", 1, minute)}, "b": {Have: podsOf("h", 3, 30*time.Second)}}, 0, 3, true},
		"pods from before are no help":    {replacedAgo("a", minute, minute, minute), pods{"a": {Have: podsOf("h", 3, 2*minute), Lack: podsOf("l", 1, 30*time.Second)}}, 0, 3, true},
		"the record was written, no more": {[]nexusv1.ReplacedPod{{Deployment: "a", Name: "l0", UID: "l0", Time: metav1.NewTime(noon)}}, pods{"a": {Lack: podsOf("l", 1, minute)}}, 1, 1, false},
		"the list of records is full":     {replacedAgo("gone", make([]time.Duration, 32)...), pods{"a": {Lack: podsOf("l", 1, minute)}}, 0, 32, true},
	} {
		chosen, kept, bounded := capability.PodsToReplace(tc.records, tc.of, noon)
		if len(chosen) != tc.chosen || len(kept) != tc.kept || bounded != tc.bounded {
			t.Errorf("%s: %d chosen, %d records, bounded %t", name, len(chosen), len(kept), bounded)
		}
	}
}

// A webhook that never serves a namespace costs ever fewer pods, and one that serves it again finds the operator trying.
func TestPodsToReplace_WaitsLongerEachTime(t *testing.T) {
	day := func(replicas int, deployments ...string) (perHour [48]int, most int) {
		var records []nexusv1.ReplacedPod
		pods := map[string]capability.CredentialPods{}
		made := 0
		start := func(d string, now time.Time) corev1.Pod {
			made++
			name := fmt.Sprint(d, made)
			return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now)}}
		}
		for minute := range 48 * 60 {
			now := noon.Add(time.Duration(minute) * time.Minute)
			for _, d := range deployments {
				for len(pods[d].Lack) < replicas {
					pods[d] = capability.CredentialPods{Lack: append(pods[d].Lack, start(d, now))}
				}
			}
			chosen, kept, _ := capability.PodsToReplace(records, pods, now)
			if len(chosen) > 0 {
				records = kept
			}
			most = max(most, len(records))
			perHour[minute/60] += len(chosen)
			for _, r := range chosen {
				left := slices.DeleteFunc(pods[r.Deployment].Lack, func(p corev1.Pod) bool { return string(p.UID) == r.UID })
				pods[r.Deployment] = capability.CredentialPods{Lack: left}
			}
		}
		return perHour, most
	}
	for _, deployments := range [][]string{{"a"}, {"a", "b"}} {
		perHour, most := day(2, deployments...)
		first, last := 0, 0
		for h := range 24 {
			first, last = first+perHour[h], last+perHour[24+h]
		}
		if first > 36*len(deployments) || last == 0 || last > 15*len(deployments) || most > 32 {
			t.Errorf("%v: %d pods on the first day, %d on the second, %d records at most: %v", deployments, first, last, most, perHour)
		}
	}
}

func TestCredentials_ArePartOfReadyUntilTheFirstRollout(t *testing.T) {
	lacks := state("Deployment/myapp-dev-backend", capability.State{Applied: true, Ready: true, NoCredentials: "1 of 2 pods"})
	starting := state("Deployment/myapp-dev-backend", capability.State{Applied: true, Reason: "Progressing", NoCredentials: "1 of 2 pods"})
	healing := func(h capability.Healing) func(*capability.Observed) {
		return func(o *capability.Observed) { o.Healing = h }
	}
	for name, tc := range map[string]struct {
		edits []func(*capability.Observed)
		want  string
		says  string
	}{
		"the operator replaces them": {[]func(*capability.Observed){lacks, healing(capability.Healing{Injects: true})}, "ready=False/CredentialsNotInPods", "1 of 2 pods of Deployment/myapp-dev-backend have neither"},
		"the bound is reached":       {[]func(*capability.Observed){lacks, healing(capability.Healing{Injects: true, Held: "the bound"})}, "Failed 11/11 Ingress ready=False/CredentialsNotInPods", "the bound"},
		"pods that are not ready":    {[]func(*capability.Observed){starting, healing(capability.Healing{Injects: true, Held: "the bound"})}, "ready=False/CredentialsNotInPods", "the bound"},
		"it has run before":          {[]func(*capability.Observed){lacks, ran, settled, healing(capability.Healing{Injects: true, Held: "the bound"})}, "Running 11/11 Ingress ready=True/Ready", "see condition CredentialsInPods"},
		"nothing is known to inject": {[]func(*capability.Observed){lacks}, "Running 11/11 Ingress ready=True/Ready", "see condition CredentialsInPods"},
	} {
		st, got := summary(observe(t, tc.edits...))
		c := meta.FindStatusCondition(st.Conditions, nexusv1.ConditionCredentialsInPods)
		if !strings.Contains(got, tc.want) || !strings.Contains(st.Message, tc.says) || c.Status != metav1.ConditionFalse || c.Reason != "CredentialsNotInPods" {
			t.Errorf("%s: %s\n%s\n%+v", name, got, st.Message, c)
		}
	}
}
