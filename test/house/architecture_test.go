// SPDX-License-Identifier: Apache-2.0

package house

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const architecture = "../../docs/architecture.md"

// roomRow is a row of the table of rooms: the folder, its purpose, and what it may import.
var roomRow = regexp.MustCompile("^\\| `([^`]+)`[^|]*\\|([^|]*)\\|([^|]*)\\|$")

// The table of rooms has a row for each of them, and its last column is that of the table in this package. NEXUS_UPDATE=1 writes the
// column.
func TestArchitecture_ListsTheRooms(t *testing.T) {
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		row := roomRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		room := roomOfRow(row[1])
		imports, is := allowed[room]
		if !is {
			continue // such as a folder without Go
		}
		listed[room] = true
		lines[i] = strings.TrimSuffix(line, row[3]+"|") + " " + listOfRooms(imports) + " |"
	}
	for room := range allowed {
		if !listed[room] {
			t.Errorf("%s has no row for %s", architecture, room)
		}
	}
	switch now := strings.Join(lines, "\n"); {
	case now == string(text):
	case os.Getenv("NEXUS_UPDATE") == "":
		t.Errorf("%s shows other imports than the table of this package: NEXUS_UPDATE=1 go test ./test/house", architecture)
	default:
		if err := os.WriteFile(architecture, []byte(now), 0o644); err != nil { //nolint:gosec // a page that everybody may read
			t.Fatal(err)
		}
	}
}

// roomOfRow returns the room of a folder as the page writes it: without a part in angle brackets.
func roomOfRow(folder string) string {
	folder, _, _ = strings.Cut(folder, "/<")
	return strings.TrimSuffix(folder, "/")
}

// listOfRooms shortens the names of rooms as the page shows them.
func listOfRooms(rooms []string) string {
	if len(rooms) == 0 {
		return "nothing"
	}
	short := make([]string, len(rooms))
	for i, r := range rooms {
		short[i] = strings.TrimPrefix(r, "internal/")
	}
	return strings.Join(short, ", ")
}
