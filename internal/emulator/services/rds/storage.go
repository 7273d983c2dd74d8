// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// SetStorageOptimized lets DB instances be optimizing their storage for so long after each change of it, while they refuse another.
func (s *Service) SetStorageOptimized(d time.Duration) { s.Locked(func() { s.storageDelay = d }) }

// storageOf is the storage of a DB instance.
type storageOf struct {
	Engine string `xml:"DescribeDBInstancesResult>DBInstances>DBInstance>Engine"`
	Type   string `xml:"DescribeDBInstancesResult>DBInstances>DBInstance>StorageType"`
	Size   int    `xml:"DescribeDBInstancesResult>DBInstances>DBInstance>AllocatedStorage"`
	IOPS   int    `xml:"DescribeDBInstancesResult>DBInstances>DBInstance>Iops"`
}

// asRequested returns the storage that a request makes of it.
func (s storageOf) asRequested(form url.Values) storageOf {
	if engine := form.Get("Engine"); engine != "" {
		s.Engine = engine
	}
	if t := form.Get("StorageType"); t != "" {
		s.Type = t
	}
	if n, err := strconv.Atoi(form.Get("AllocatedStorage")); err == nil {
		s.Size = n
	}
	return s
}

// threshold is the smallest size of gp3 storage that takes I/O operations.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Storage.html#gp3-storage
func (s storageOf) threshold() int {
	switch {
	case strings.HasPrefix(s.Engine, "sqlserver"):
		return 0
	case strings.HasPrefix(s.Engine, "oracle"):
		return 200
	default:
		return 400
	}
}

func (s storageOf) isFixed() bool { return s.Type == "gp3" && s.Size < s.threshold() }

// hasIOPS reports whether RDS changes size and I/O operations only together.
func (s storageOf) hasIOPS() bool {
	return strings.HasPrefix(s.Type, "io") || s.Type == "gp3" && s.Size >= s.threshold()
}

// checkNewStorage: moto gives gp3 storage no I/O operations, and takes any.
func (s *Service) checkNewStorage(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	wanted := storageOf{}.asRequested(x.Form)
	switch {
	case wanted.isFixed() && x.Form.Get("Iops") != "":
		return x.Refuse(http.StatusBadRequest, "InvalidParameterCombination", fmt.Sprintf(
			"You can't specify IOPS or storage throughput for engine %s and a storage size less than %d.", wanted.Engine, wanted.threshold()))
	case wanted.Type == "gp3" && x.Form.Get("Iops") == "":
		baseline := "3000"
		if wanted.threshold() > 0 && !wanted.isFixed() {
			baseline = "12000"
		}
		x.Form.Set("Iops", baseline)
		x.Body = []byte(x.Form.Encode())
	}
	return nil
}

// checkStorage: moto changes storage to any size, with and without I/O operations, and at any time. RDS rounds raises of less than
// 10 percent up.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html
func (s *Service) checkStorage(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	size, iops := x.Form.Get("AllocatedStorage"), x.Form.Get("Iops")
	if size == "" && iops == "" && x.Form.Get("StorageType") == "" {
		return nil
	}
	var present storageOf
	if err := s.readRDS(ctx, x, url.Values{"Action": {"DescribeDBInstances"}, "DBInstanceIdentifier": {x.Resource}}, &present); err != nil {
		return nil // moto says that there is none
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	d, now, delay := s.databaseOf(x)
	wanted := present.asRequested(x.Form)
	refuse := func(message string) *proxy.Answer {
		return x.Refuse(http.StatusBadRequest, "InvalidParameterCombination", message)
	}
	switch {
	case now.Before(d.optimized):
		return refuse("You can't currently modify the storage of this DB instance because the previous storage change is being optimized.")
	case wanted.Size < present.Size:
		return refuse(fmt.Sprintf("Requested size of %d can not be smaller than existing size of %d", wanted.Size, present.Size))
	case wanted.isFixed() && iops != "":
		return refuse(fmt.Sprintf("You can't specify IOPS or storage throughput for engine %s and a storage size less than %d.", wanted.Engine,
			wanted.threshold()))
	case wanted.hasIOPS() && (size == "" || iops == ""):
		return refuse("You must specify both the storage size and iops when modifying the storage size or iops on a DB instance that has iops.")
	}
	if s.storageDelay > 0 {
		d.optimized = now.Add(delay + s.storageDelay)
	}
	if wanted.threshold() > 0 { // SQL Server has none
		roundUp(x.Form, "AllocatedStorage", present.Size)
		roundUp(x.Form, "Iops", present.IOPS)
	}
	x.Body = []byte(x.Form.Encode())
	return nil
}

// roundUp makes a raise one of at least 10 percent.
func roundUp(form url.Values, name string, present int) {
	if n, err := strconv.Atoi(form.Get(name)); err == nil && n > present && n*10 < present*11 {
		form.Set(name, strconv.Itoa((present*11+9)/10))
	}
}
