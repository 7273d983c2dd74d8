// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// place is a partition with a region in it.
type place struct{ partition, region string }

// others are the partitions of AWS other than that of all other tests.
var others = []place{{"aws-cn", "cn-north-1"}, {"aws-us-gov", "us-gov-west-1"}, {"aws-eusc", "eusc-de-east-1"}}

// gap names the feature that the emulator lacks in a partition, and a part of the message that a life ends with there.
type gap struct{ lacks, shows string }

// beyondEmulator are the kinds with lives that the emulator cannot lead in a partition.
var beyondEmulator = map[string]gap{
	"Certificate aws-cn": noSearch, "EKSCluster aws-cn": noSearch, "KMSKey aws-cn": noSearch,
	"CognitoUserPool aws-cn": {"no user pools", "does not implement cognito-idp.ListUserPools"},
	"EC2Instance aws-cn":     noInstances, "EC2Instance aws-us-gov": noInstances, "EC2Instance aws-eusc": noZones,
	"NATGateway aws-eusc": noSubnets, "RouteTable aws-eusc": noSubnets, "Subnet aws-eusc": noSubnets, "RDSInstance aws-eusc": noZones,
	"DBSubnetGroup aws-eusc": noZones,
	"RDSInstance aws-cn":     twoZones, "DBSubnetGroup aws-cn": twoZones,
	"ElastiCacheCluster aws-cn": noCaches, "ElastiCacheCluster aws-us-gov": noCaches, "ElastiCacheCluster aws-eusc": noCaches,
}

var (
	noSearch    = gap{"no search by tags", "does not implement tag.GetResources"}
	noInstances = gap{"no instances", "does not implement ec2.RunInstances"}
	noSubnets   = gap{"no subnets", "does not implement ec2.CreateSubnet"}
	noZones     = gap{"no zones", refusedZone}
	twoZones    = gap{"no third zone", refusedZone}
	noCaches    = gap{"it refuses the ARNs of clusters", "elasticache:ListTagsForResource: InvalidARN"}
)

const refusedZone = "for parameter availabilityZone is invalid"

// beyondVariable names the partition for a process of the test below. The process leads a life that the emulator cannot lead.
const beyondVariable = "NEXUS_BEYOND_EMULATOR"

// stillBeyond asserts that the emulator still cannot lead the lives that are left out. Each fails in a process of this test alone.
func stillBeyond(t *testing.T, e engine.Entry) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range others {
		why, isBeyond := beyondEmulator[e.Name()+" "+in.partition]
		if !isBeyond {
			continue
		}
		t.Run("the emulator lacks what a life needs in "+in.partition, func(t *testing.T) {
			test, _, _ := strings.Cut(t.Name(), "/")
			child := exec.CommandContext(t.Context(), binary, "-test.run=^"+test+"$", "-test.count=1")
			child.Env = append(os.Environ(), beyondVariable+"="+in.partition)
			out, err := child.CombinedOutput()
			if err == nil {
				t.Fatal("the life ended well: take the entry out of beyondEmulator")
			}
			if !strings.Contains(string(out), why.shows) {
				t.Fatalf("the life fails, and not with %q:\n%s", why.shows, out)
			}
		})
	}
}

// Lives returns the partitions for lives of a kind in the contract suite, and for each other one the feature that the emulator lacks there.
func Lives(kindName string) (in []string, lacks map[string]string) {
	in, lacks = []string{Partition}, map[string]string{}
	for _, p := range others {
		if why, isBeyond := beyondEmulator[kindName+" "+p.partition]; isBeyond {
			lacks[p.partition] = why.lacks
		} else {
			in = append(in, p.partition)
		}
	}
	return in, lacks
}

// partitions lives a life in other partitions of AWS, with the policies that are printed there: the sample is created, edited and
// deleted. In a full run it is adopted there, too.
func partitions(t *testing.T, e engine.Entry, l Life) {
	t.Helper()
	for _, in := range extent.Sample(t, placesOf(e.Name()), 1) {
		t.Run("in the partition "+in.partition, func(t *testing.T) {
			r := newRigIn(t, in.partition, in.region)
			l := l.withParents(t).movedTo(r)
			s := l.subject(r, e)
			s.limit(t, newRights(e))
			Settled(t, s)
			if l.Edited != nil {
				s.Edit(l.Edited)
				Settled(t, s)
			}
			s.Object.CommonSpec().DeletionPolicy = l.Sample.CommonSpec().DeletionPolicy
			s.Deleting = true
			Settled(t, s)
			if extent.IsFull(t) {
				r := newRigIn(t, in.partition, in.region)
				adopted(t, r, e, l)
			}
		})
	}
}

// movedTo returns the life with the partition and the region of the rig.
func (l Life) movedTo(r *Rig) Life {
	facts := l.Facts
	l.Facts = func(s *Subject) {
		if facts != nil {
			facts(s)
		}
		s.move()
	}
	l.Sample = r.here(l.Sample)
	if l.Edited != nil {
		l.Edited = r.here(l.Edited)
	}
	return l
}

// placesOf returns the other partitions where the emulator can lead the lives of a kind. The kinds share the first places.
func placesOf(kindName string) []place {
	if only := os.Getenv(beyondVariable); only != "" {
		return slices.DeleteFunc(slices.Clone(others), func(in place) bool { return in.partition != only })
	}
	first := len(kindName) % len(others)
	return slices.DeleteFunc(slices.Concat(others[first:], others[:first]), func(in place) bool {
		_, isBeyond := beyondEmulator[kindName+" "+in.partition]
		return isBeyond
	})
}

// rowsElsewhere runs the rows in another partition of AWS in full runs: each optional block and each adoption, with the rights that are
// printed there. Each of these rights must be needed.
func rowsElsewhere(t *testing.T, e engine.Entry, parents func(t *testing.T, s *Subject), cases []Case) {
	t.Helper()
	places := placesOf(e.Name())
	if !extent.IsFull(t) || len(places) == 0 {
		return
	}
	in := places[0]
	t.Run("rows in the partition "+in.partition, func(t *testing.T) {
		used := actions{reads: map[string]bool{}, writes: map[string]bool{}, rights: newRights(e), structures: newStructures(e.Name())}
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) {
				r := newRigIn(t, in.partition, in.region)
				row(t, r, e, c.with(t, parents).movedTo(r), used)
			})
		}
		used.rights.compare(t)
	})
}

// movedTo returns the case with the partition and the region of the rig.
func (c Case) movedTo(r *Rig) Case {
	facts := c.Facts
	c.Facts = func(s *Subject) {
		facts(s)
		s.move()
	}
	c.Diff = slices.Clone(c.Diff)
	for i := range c.Diff {
		c.Diff[i] = r.moved(c.Diff[i])
	}
	c.Object = r.here(c.Object)
	if c.Existing != nil {
		c.Existing = r.here(c.Existing)
	}
	return c
}

// move gives the targets of the subject the partition and the region of its rig.
func (s *Subject) move() {
	for name, target := range s.Targets {
		s.Targets[name] = s.Rig.targetHere(target)
	}
	s.Boundary = s.Rig.moved(s.Boundary)
	for i := range s.Callers {
		s.Callers[i] = s.Rig.moved(s.Callers[i])
	}
}

// mover replaces the partition and the region of other tests by those of the rig in the requests that tests send to AWS, and the reverse in
// the answers of AWS. The engine's requests do not come here.
type mover struct{ *Rig }

func (m mover) Do(r *http.Request) (*http.Response, error) {
	moved := r.Clone(r.Context())
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = []byte(m.moved(string(body)))
		moved.Body, moved.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	at, err := url.Parse(m.moved(r.URL.String()))
	if err != nil {
		return nil, err
	}
	moved.URL = at
	answer, err := awsclient.NewHTTPClient().Do(moved)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	told := *answer
	body = []byte(m.back(string(body)))
	told.Body, told.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return &told, nil
}

// moved is a text with the partition and the region of the rig.
func (r *Rig) moved(text string) string {
	arn, here := r.arns()
	return strings.NewReplacer(arn, here, url.QueryEscape(arn), url.QueryEscape(here), Region, r.Region).Replace(text)
}

// back is the opposite of moved.
func (r *Rig) back(text string) string {
	arn, here := r.arns()
	return strings.NewReplacer(here, arn, url.QueryEscape(here), url.QueryEscape(arn), r.Region, Region).Replace(text)
}

// arns returns the beginnings of ARNs of other tests, and of those of the rig.
func (r *Rig) arns() (theirs, here string) {
	return "arn:" + Partition + ":", "arn:" + r.Partition + ":"
}

// here is an object with the partition and the region of the rig in the place of those of other tests.
func (r *Rig) here(o v1alpha1.Resource) v1alpha1.Resource {
	out := o.DeepCopyObject().(v1alpha1.Resource)
	r.move(reflect.ValueOf(out).Elem())
	return out
}

// move changes the texts in a value. The caller shares no part of the value. JSON would lose the difference of an empty list and none.
func (r *Rig) move(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(r.moved(v.String()))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			r.move(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.move(v.Field(i))
		}
	case reflect.Slice:
		if raw, ok := v.Interface().([]byte); ok && v.CanSet() {
			v.SetBytes([]byte(r.moved(string(raw))))
			return
		}
		for i := range v.Len() {
			r.move(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			r.moveEntry(v, key)
		}
	}
}

func (r *Rig) moveEntry(m, key reflect.Value) {
	value := reflect.New(m.Type().Elem()).Elem()
	value.Set(m.MapIndex(key))
	r.move(value)
	to := reflect.New(m.Type().Key()).Elem()
	to.Set(key)
	r.move(to)
	m.SetMapIndex(key, reflect.Value{})
	m.SetMapIndex(to, value)
}

func (r *Rig) targetHere(target kind.Target) kind.Target {
	target.ID, target.ARN = r.moved(target.ID), r.moved(target.ARN)
	for name, value := range target.Attributes {
		target.Attributes[name] = r.moved(value)
	}
	return target
}
