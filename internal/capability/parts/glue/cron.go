// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cronField is one of the six fields of an AWS cron expression.
type cronField struct {
	name     string
	min, max int
	names    []string
	// special are the other values, as a pattern.
	special *regexp.Regexp
}

// The fields of cron(minutes hours day-of-month month day-of-week year). Cron libraries for Unix know neither the
// year, nor ?, L, W and #.
// https://docs.aws.amazon.com/glue/latest/dg/monitor-data-warehouse-schedule.html
var cronFields = []cronField{
	{name: "minutes", max: 59},
	{name: "hours", max: 23},
	{name: "day-of-month", min: 1, max: 31, special: regexp.MustCompile(`^([?]|L|LW|([1-9]|[12][0-9]|3[01])W)$`)},
	{name: "month", min: 1, max: 12, names: []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	{name: "day-of-week", min: 1, max: 7, names: []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"},
		special: regexp.MustCompile(`^([?]|L|[1-7]L|[1-7]#[1-5])$`)},
	{name: "year", min: 1970, max: 2199},
}

// cronFault returns the error of a schedule of the form cron(…), or "".
func cronFault(schedule string) string {
	fields := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(schedule, "cron("), ")"))
	if len(fields) != len(cronFields) {
		return fmt.Sprintf("cron(minutes hours day-of-month month day-of-week year) has six fields, not %d", len(fields))
	}
	for i, f := range cronFields {
		for item := range strings.SplitSeq(strings.ToUpper(fields[i]), ",") {
			if !f.allows(item) {
				return fmt.Sprintf("%q is no value of the field %s", item, f.name)
			}
		}
	}
	if (fields[2] == "?") == (fields[4] == "?") {
		return "exactly one of day-of-month and day-of-week must be ?"
	}
	return ""
}

func (f cronField) allows(item string) bool {
	if f.special != nil && f.special.MatchString(item) {
		return true
	}
	base, step, stepped := strings.Cut(item, "/")
	if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1 || n > f.max) {
		return false
	}
	if base == "*" {
		return true
	}
	from, to, ranged := strings.Cut(base, "-")
	low, okLow := f.number(from)
	high, okHigh := f.number(to)
	return okLow && (!ranged || okHigh && low <= high)
}

func (f cronField) number(s string) (int, bool) {
	if i := slices.Index(f.names, s); i >= 0 {
		return i + f.min, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= f.min && n <= f.max
}
