// SPDX-License-Identifier: Apache-2.0

package console

import "testing"

func TestCanvas_RedrawsInPlaceAndCutsLines(t *testing.T) {
	v := &Canvas{Width: 10, colored: true}
	if got := v.Draw([]string{"a", "b"}); got != "\r\x1b[Ja\nb\n" {
		t.Errorf("%q", got)
	}
	if got := v.Draw([]string{"c"}); got != "\x1b[2A\r\x1b[Jc\n" {
		t.Errorf("%q", got)
	}
	if got := v.Cut("äöüäöüäöüäöü"); got != "äöüäöüäöü…" {
		t.Errorf("%q", got)
	}
	if got := v.Paint(Red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := (&Canvas{}).Paint(Red, "x"); got != "x" {
		t.Errorf("%q", got)
	}
}
