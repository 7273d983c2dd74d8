// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// place is a partition with a region in it.
type place struct{ partition, region string }

// others are the partitions of AWS other than that of all other tests.
var others = []place{{"aws-cn", "cn-north-1"}, {"aws-us-gov", "us-gov-west-1"}, {"aws-eusc", "eusc-de-east-1"}}

// beyondEmulator are the kinds whose lives the emulator cannot lead in a partition, with what it lacks there.
var beyondEmulator = map[string]string{
	"Certificate aws-cn": noSearch, "EKSCluster aws-cn": noSearch, "KMSKey aws-cn": noSearch, "CognitoUserPool aws-cn": "no user pools",
	"EC2Instance aws-cn": noInstances, "EC2Instance aws-us-gov": noInstances, "EC2Instance aws-eusc": noInstances,
	"NATGateway aws-eusc": noSubnets, "RouteTable aws-eusc": noSubnets, "Subnet aws-eusc": noSubnets, "RDSInstance aws-eusc": noSubnets, "DBSubnetGroup aws-eusc": noSubnets,
	"RDSInstance aws-cn": twoZones, "DBSubnetGroup aws-cn": twoZones,
	"ElastiCacheCluster aws-cn": noCaches, "ElastiCacheCluster aws-us-gov": noCaches, "ElastiCacheCluster aws-eusc": noCaches,
}

const (
	noSearch    = "no search by tags"
	noInstances = "no instances"
	noSubnets   = "no subnets"
	twoZones    = "no third zone"
	noCaches    = "it refuses the ARNs of clusters"
)

// Lives returns the partitions in which the contract suite lives a life of a kind, and of each other one what the emulator lacks there.
func Lives(kindName string) (in []string, lacks map[string]string) {
	in, lacks = []string{Partition}, map[string]string{}
	for _, p := range others {
		if why := beyondEmulator[kindName+" "+p.partition]; why != "" {
			lacks[p.partition] = why
		} else {
			in = append(in, p.partition)
		}
	}
	return in, lacks
}

// partitions lives a life in other partitions of AWS, with the policies that are printed there: the sample is created, edited and
// deleted.
func partitions(t *testing.T, e engine.Entry, l Life) {
	t.Helper()
	first := len(e.Name()) % len(others) // in the sample, the kinds share the partitions
	possible := slices.DeleteFunc(slices.Concat(others[first:], others[:first]), func(in place) bool { return beyondEmulator[e.Name()+" "+in.partition] != "" })
	for _, in := range extent.Sample(t, possible, 1) {
		t.Run("in the partition "+in.partition, func(t *testing.T) {
			r := newRigIn(t, in.partition, in.region)
			l := l.withParents(t)
			s := NewSubject(r, e, r.here(t, l.Sample))
			if l.Facts != nil {
				l.Facts(s)
			}
			for name, target := range s.Targets {
				s.Targets[name] = r.targetHere(target)
			}
			s.limit(t, newRights(e))
			Settled(t, s)
			if l.Edited != nil {
				s.Edit(r.here(t, l.Edited))
				Settled(t, s)
			}
			s.Object.CommonSpec().DeletionPolicy = l.Sample.CommonSpec().DeletionPolicy
			s.Deleting = true
			Settled(t, s)
		})
	}
}

// moved is a text with the partition and the region of the rig.
func (r *Rig) moved(text string) string {
	return strings.NewReplacer("arn:"+Partition+":", "arn:"+r.Partition+":", Region, r.Region).Replace(text)
}

// here is an object with the partition and the region of the rig in the place of those of other tests.
func (r *Rig) here(t *testing.T, o v1alpha1.Resource) v1alpha1.Resource {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	out := reflect.New(reflect.TypeOf(o).Elem()).Interface().(v1alpha1.Resource)
	if err := json.Unmarshal([]byte(r.moved(string(text))), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (r *Rig) targetHere(target kind.Target) kind.Target {
	target.ID, target.ARN = r.moved(target.ID), r.moved(target.ARN)
	for name, value := range target.Attributes {
		target.Attributes[name] = r.moved(value)
	}
	return target
}
