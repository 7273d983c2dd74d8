// SPDX-License-Identifier: Apache-2.0

package kind

import "testing"

// published are versions as RDS, ElastiCache and EKS publish them, from the earliest to the latest of each engine.
var published = map[string][]string{
	"postgres": {"9.6.24", "10.4", "11.9", "11.22", "11.22-rds.20240418", "11.22-rds.20240509", "11.22-rds.20250508", "12.2", "16.4",
		"16.10", "17.1"},
	"mysql":     {"5.7.44", "5.7.44-rds.20240408", "5.7.44-rds.20250103", "8.0.36", "8.0.40", "8.4.3"},
	"mariadb":   {"10.5.9", "10.5.20", "10.11.6", "11.4.3"},
	"sqlserver": {"13.00.6300.2.v1", "14.00.3465.1.v1", "15.00.4236.7.v1", "15.00.4345.5.v1", "15.00.4345.5.v2", "16.00.4085.2.v1"},
	"oracle": {"19.0.0.0.ru-2023-10.rur-2023-10.r1", "19.0.0.0.ru-2024-01.rur-2024-01.r1", "19.0.0.0.ru-2024-01.rur-2024-01.r2",
		"21.0.0.0.ru-2024-01.rur-2024-01.r1"},
	"oracle spb": {"19.0.0.0.ru-2025-01.spb-1.r1", "19.0.0.0.ru-2025-04.spb-1.r1", "19.0.0.0.ru-2025-10.spb-1.r1"},
	"db2":        {"11.5.9.0.sb00000000.r1", "11.5.9.0.sb00045957.r1", "11.5.9.0.sb00047596.r2"},
	"memcached":  {"1.4.34", "1.5.16", "1.6.6", "1.6.22"},
	"redis":      {"5.0.6", "6.0.5", "6.2.6", "7.0.7", "7.1.0"},
	"eks":        {"1.9", "1.10", "1.32"},
}

func TestCompareVersions_OrdersPublishedVersions(t *testing.T) {
	for engine, versions := range published {
		for i, a := range versions {
			for j, b := range versions {
				got, prefix := CompareVersions(a, b), IsVersion(a, b) || IsVersion(b, a)
				switch {
				case got != -CompareVersions(b, a):
					t.Errorf("%s: %s and %s compare to %d, and the other way round to %d", engine, a, b, got, CompareVersions(b, a))
				case prefix && got != 0, !prefix && i < j && got != -1, !prefix && i > j && got != 1:
					t.Errorf("%s: %s and %s: %d", engine, a, b, got)
				case i != j && IsVersion(a, b) && i < j:
					t.Errorf("%s: the earlier %s counts as %s", engine, a, b)
				}
			}
		}
	}
}

func TestCompareVersions_ComparesPartByPart(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"16.4", "16.10", -1}, {"16", "16.4", 0}, {"8.4.1", "8.0.36", 1}, {"11.9", "11.22-rds.20240509", -1}, {"11.22", "11.22-rds.20240509", 0},
		{"15.00", "15.0.4236", 0}, {"8.0.mysql_aurora.3.04.1", "8.0.mysql_aurora.3.10.0", -1},
		{"1.99999999999999999999", "1.100000000000000000000", -1}, {"", "1", 0}} {
		if got := CompareVersions(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %d", c.a, c.b, got)
		}
	}
}

func TestIsVersion_NeedsAllPartsThatAreNamed(t *testing.T) {
	for _, c := range []struct {
		version, named string
		want           bool
	}{{"16.4", "16", true}, {"16.40", "16.4", false}, {"16", "16.4", false}, {"11.22-rds.20240509", "11.22", true},
		{"11.22", "11.22-rds.20240509", false}, {"6.2.6", "6", true}} {
		if got := IsVersion(c.version, c.named); got != c.want {
			t.Errorf("%s as %s: %t", c.version, c.named, got)
		}
	}
}
