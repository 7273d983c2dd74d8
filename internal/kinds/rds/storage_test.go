// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// stored declares storage of a type, a size and, unless 0, I/O operations per second.
func stored(storageType string, size, iops int32) func(s *spec) {
	return func(s *spec) {
		s.StorageType, s.AllocatedStorage, s.IOPS = &storageType, size, nil
		if iops > 0 {
			s.IOPS = &iops
		}
	}
}

func autoscaled(s *spec) { s.MaxAllocatedStorage = aws.Int32(1000) }

// RDS refuses a size without the operations of storage that has some, a size below the present one, and operations of small gp3
// storage. The proxy does so, too.
func TestStorageIsChangedAsRDSAcceptsIt(t *testing.T) {
	for _, c := range []struct {
		name        string
		from        func(s *spec)
		grown       int32 // by storage autoscaling, unless 0
		to          []func(s *spec)
		storageType string
		size, iops  int32
	}{
		{"operations of io2", stored("io2", 100, 3000), 0, []func(s *spec){stored("io2", 100, 4000)}, "io2", 100, 4000},
		{"size of io2", stored("io2", 100, 3000), 0, []func(s *spec){stored("io2", 200, 3000)}, "io2", 200, 3000},
		{"size of io2 that is no longer declared", stored("io2", 100, 4000), 0, []func(s *spec){storage(300)}, "io2", 300, 4000},
		{"operations after the storage grew", stored("io1", 100, 3000), 140, []func(s *spec){stored("io1", 100, 4000)}, "io1", 140, 4000},
		{"another type after the storage grew", stored("gp2", 100, 0), 140, []func(s *spec){stored("io1", 100, 3000)}, "io1", 140, 3000},
		{"size of large gp3", stored("gp3", 500, 0), 0, []func(s *spec){stored("gp3", 600, 0)}, "gp3", 600, 12000},
		{"size of large gp3 with declared operations", stored("gp3", 500, 14000), 0, []func(s *spec){stored("gp3", 600, 14000)}, "gp3", 600,
			14000},
		{"size of small gp3", stored("gp3", 100, 0), 0, []func(s *spec){stored("gp3", 200, 0)}, "gp3", 200, 3000},
		{"gp3 becomes large", stored("gp3", 300, 0), 0, []func(s *spec){stored("gp3", 500, 0)}, "gp3", 500, 12000},
		{"io1 becomes large gp3", stored("io1", 500, 4000), 0, []func(s *spec){stored("gp3", 500, 0)}, "gp3", 500, 12000},
		{"io1 becomes large gp3 with its operations", stored("io1", 500, 16000), 0, []func(s *spec){stored("gp3", 500, 0)}, "gp3", 500, 16000},
		{"gp2 becomes large gp3", stored("gp2", 500, 0), 0, []func(s *spec){stored("gp3", 500, 0)}, "gp3", 500, 12000},
		{"the operations that small gp3 has are declared", stored("gp3", 100, 3000), 0, nil, "gp3", 100, 3000},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := subjectOf(t, instanceOf(autoscaled, c.from))
			kindtest.Settled(t, s)
			if c.grown > 0 {
				change(rds.ModifyDBInstanceInput{AllocatedStorage: &c.grown, Iops: find(t, r).Iops})(t, r)
				kindtest.Settled(t, s)
			}
			if len(c.to) > 0 {
				s.Edit(instanceOf(append([]func(s *spec){autoscaled}, c.to...)...))
				kindtest.Settled(t, s)
			}
			if d := find(t, r); aws.ToString(d.StorageType) != c.storageType || aws.ToInt32(d.AllocatedStorage) != c.size ||
				aws.ToInt32(d.Iops) != c.iops {
				t.Errorf("%s of %d GiB with %d IOPS", aws.ToString(d.StorageType), aws.ToInt32(d.AllocatedStorage), aws.ToInt32(d.Iops))
			}
		})
	}
}

// "Values that are not at least 10% greater than the existing value are rounded up":
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html
func TestRaisesThatRDSRoundsUpAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		from, to func(s *spec)
		words    string
	}{
		"storage":                     {stored("gp2", 100, 0), stored("gp2", 105, 0), "declare at least 110"},
		"operations":                  {stored("io1", 100, 3000), stored("io1", 100, 3100), "declare at least 3300"},
		"operations of small storage": {stored("gp3", 100, 0), stored("gp3", 100, 5000), "remove iops"},
	} {
		s, r := subjectOf(t, instanceOf(c.from))
		settled(t, s)
		s.Edit(instanceOf(c.to))
		_, err := s.Pass(t.Context(), nil)
		stalls(t, err, status.ReasonInvalidSpec)
		if !strings.Contains(err.Error(), c.words) || r.AWS.Calls().Match("rds", "ModifyDBInstance", "").Count() > 0 {
			t.Errorf("%s: %v\n%s", name, err, r.AWS.Calls())
		}
	}
	s, _ := subjectOf(t, instanceOf(stored("gp2", 100, 0)))
	settled(t, s)
	s.Edit(instanceOf(stored("gp2", 110, 0)))
	settled(t, s)
}

// RDS optimizes storage for hours after a change, and refuses the next change of storage until then. Other settings do not wait for it.
func TestOtherSettingsChangeWhileStorageIsOptimized(t *testing.T) {
	s, r := subjectOf(t, instanceOf(stored("gp2", 100, 0)))
	settled(t, s)
	slow(s, 0)
	r.AWS.RDS.SetStorageOptimized(6 * time.Hour)
	s.Edit(instanceOf(stored("gp2", 200, 0)))
	settled(t, s)
	s.Edit(instanceOf(stored("gp2", 300, 0), func(s *spec) { s.DBInstanceClass = "db.t4g.small" }))
	if _, err := s.Pass(t.Context(), nil); err != nil && !strings.Contains(err.Error(), "optimizes its storage") {
		t.Fatal(err)
	}
	if d := find(t, r); *d.DBInstanceClass != "db.t4g.small" || *d.AllocatedStorage != 200 {
		t.Errorf("%s, %d GiB", *d.DBInstanceClass, *d.AllocatedStorage)
	}
	if c := waitsBusy(t, s, "optimizes its storage"); c.Status != "False" { // the edit is not true yet
		t.Errorf("%+v", c)
	}
	s.Clock = s.Clock.Add(7 * time.Hour)
	settled(t, s)
	if d := find(t, r); *d.AllocatedStorage != 300 {
		t.Errorf("%d GiB", *d.AllocatedStorage)
	}
}
