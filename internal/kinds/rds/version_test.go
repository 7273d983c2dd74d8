// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestMajorVersions(t *testing.T) {
	for _, c := range [][3]string{
		{"postgres", "16.4", "16"}, {"postgres", "9.6.24", "9.6"}, {"mysql", "8.0.36", "8.0"}, {"mariadb", "10.11.6", "10.11"},
		{"oracle-se2", "19.0.0.0.ru-2024-01.rur-2024-01.r1", "19"}, {"sqlserver-ex", "15.00.4236.7.v1", "15.00"}, {"mysql", "8", "8"},
	} {
		if got := majorOf(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %s", c[0], c[1], got)
		}
	}
}

// versionsChanged settles an instance that runs another version than its object declares, and returns the changes that were sent.
func versionsChanged(t *testing.T, declared, running string) (changes int, s *kindtest.Subject) {
	t.Helper()
	s, r := subjectOf(t, instanceOf(version(declared)))
	settled(t, s)
	change(rds.ModifyDBInstanceInput{EngineVersion: aws.String(running), AllowMajorVersionUpgrade: aws.Bool(true)})(t, r)
	mark := r.AWS.Mark()
	settled(t, s)
	return r.AWS.Since(mark).Match("rds", "ModifyDBInstance", "").Count(), s
}

// Versions of extended support have more than numbers in their parts.
func TestALaterVersionOfAnyFormIsKept(t *testing.T) {
	for declared, running := range map[string]string{"11.9": "11.22-rds.20240509", "11.22": "11.22-rds.20240509", "11": "11.22-rds.20240509",
		"11.22-rds.20240418": "11.22-rds.20240509"} {
		if n, _ := versionsChanged(t, declared, running); n > 0 {
			t.Errorf("%s declared, %s runs: %d changes", declared, running, n)
		}
	}
}

func TestAReleaseOfExtendedSupportIsAnUpgrade(t *testing.T) {
	n, s := versionsChanged(t, "11.22-rds.20240509", "11.22")
	if got := aws.ToString(find(t, s.Rig).EngineVersion); n != 1 || got != "11.22-rds.20240509" {
		t.Errorf("%d changes, %s runs", n, got)
	}
}

// RDS upgrades an instance to another major version at the end of support. No other change waits for a person then.
func TestAMajorVersionThatRDSRaisedBlocksNothing(t *testing.T) {
	n, s := versionsChanged(t, "16.4", "17.1")
	if n > 0 {
		t.Errorf("%d changes", n)
	}
	versionCondition := func() metav1.Condition {
		for _, c := range s.Object.CommonStatus().Conditions {
			if c.Type == v1alpha1.ConditionVersionAsDeclared {
				return c
			}
		}
		t.Fatal("no condition about the version")
		return metav1.Condition{}
	}
	if c := versionCondition(); c.Status != "False" || c.Reason != status.ReasonImmutable || !strings.Contains(c.Message, "declare 17.1") {
		t.Errorf("%+v", c)
	}
	s.Edit(instanceOf(version("16.4"), func(s *spec) { s.DBInstanceClass = "db.t4g.small" }))
	settled(t, s)
	if got := aws.ToString(find(t, s.Rig).DBInstanceClass); got != "db.t4g.small" {
		t.Errorf("the class is %s", got)
	}
	s.Edit(instanceOf(version("17")))
	settled(t, s)
	if c := versionCondition(); c.Status != "True" {
		t.Errorf("%+v", c)
	}
}
