// SPDX-License-Identifier: Apache-2.0

// Package sizes has functions that are as large as allowed, and larger.
package sizes

// Simple has 12 paths.
func Simple(n int) int {
	switch n {
	case 0:
		n += 1
	case 1:
		n += 4
	case 2:
		n += 7
	case 3:
		n += 10
	case 4:
		n += 13
	case 5:
		n += 16
	case 6:
		n += 19
	case 7:
		n += 22
	case 8:
		n += 25
	case 9:
		n += 28
	case 10:
		n += 31
	}
	return n
}

// Complex has 13 paths.
func Complex(n int) int { // want cyclop: calculated cyclomatic complexity for function Complex is 13, max is 12
	switch n {
	case 0:
		n += 1
	case 1:
		n += 4
	case 2:
		n += 7
	case 3:
		n += 10
	case 4:
		n += 13
	case 5:
		n += 16
	case 6:
		n += 19
	case 7:
		n += 22
	case 8:
		n += 25
	case 9:
		n += 28
	case 10:
		n += 31
	case 11:
		n += 34
	}
	return n
}

// Short has 80 lines.
func Short() []string {
	var out []string
	out = append(out, "0")
	out = append(out, "1")
	out = append(out, "2")
	out = append(out, "3")
	out = append(out, "4")
	out = append(out, "5")
	out = append(out, "6")
	out = append(out, "7")
	out = append(out, "8")
	out = append(out, "9")
	out = append(out, "10")
	out = append(out, "11")
	out = append(out, "12")
	out = append(out, "13")
	out = append(out, "14")
	out = append(out, "15")
	out = append(out, "16")
	out = append(out, "17")
	out = append(out, "18")
	out = append(out, "19")
	out = append(out, "20")
	out = append(out, "21")
	out = append(out, "22")
	out = append(out, "23")
	out = append(out, "24")
	out = append(out, "25")
	out = append(out, "26")
	out = append(out, "27")
	out = append(out, "28")
	out = append(out, "29")
	out = append(out, "30")
	out = append(out, "31")
	out = append(out, "32")
	out = append(out, "33")
	out = append(out, "34")
	out = append(out, "35")
	out = append(out, "36")
	out = append(out, "37")
	out = append(out, "38")
	out = append(out, "39")
	out = append(out, "40")
	out = append(out, "41")
	out = append(out, "42")
	out = append(out, "43")
	out = append(out, "44")
	out = append(out, "45")
	out = append(out, "46")
	out = append(out, "47")
	out = append(out, "48")
	out = append(out, "49")
	out = append(out, "50")
	out = append(out, "51")
	out = append(out, "52")
	out = append(out, "53")
	out = append(out, "54")
	out = append(out, "55")
	out = append(out, "56")
	out = append(out, "57")
	out = append(out, "58")
	out = append(out, "59")
	out = append(out, "60")
	out = append(out, "61")
	out = append(out, "62")
	out = append(out, "63")
	out = append(out, "64")
	out = append(out, "65")
	out = append(out, "66")
	out = append(out, "67")
	out = append(out, "68")
	out = append(out, "69")
	out = append(out, "70")
	out = append(out, "71")
	out = append(out, "72")
	out = append(out, "73")
	out = append(out, "74")
	out = append(out, "75")
	out = append(out, "76")
	out = append(out, "77")
	return out
}

// Long has 81 lines.
func Long() []string { // want funlen: Function 'Long' is too long (81 > 80)
	var out []string
	out = append(out, "0")
	out = append(out, "1")
	out = append(out, "2")
	out = append(out, "3")
	out = append(out, "4")
	out = append(out, "5")
	out = append(out, "6")
	out = append(out, "7")
	out = append(out, "8")
	out = append(out, "9")
	out = append(out, "10")
	out = append(out, "11")
	out = append(out, "12")
	out = append(out, "13")
	out = append(out, "14")
	out = append(out, "15")
	out = append(out, "16")
	out = append(out, "17")
	out = append(out, "18")
	out = append(out, "19")
	out = append(out, "20")
	out = append(out, "21")
	out = append(out, "22")
	out = append(out, "23")
	out = append(out, "24")
	out = append(out, "25")
	out = append(out, "26")
	out = append(out, "27")
	out = append(out, "28")
	out = append(out, "29")
	out = append(out, "30")
	out = append(out, "31")
	out = append(out, "32")
	out = append(out, "33")
	out = append(out, "34")
	out = append(out, "35")
	out = append(out, "36")
	out = append(out, "37")
	out = append(out, "38")
	out = append(out, "39")
	out = append(out, "40")
	out = append(out, "41")
	out = append(out, "42")
	out = append(out, "43")
	out = append(out, "44")
	out = append(out, "45")
	out = append(out, "46")
	out = append(out, "47")
	out = append(out, "48")
	out = append(out, "49")
	out = append(out, "50")
	out = append(out, "51")
	out = append(out, "52")
	out = append(out, "53")
	out = append(out, "54")
	out = append(out, "55")
	out = append(out, "56")
	out = append(out, "57")
	out = append(out, "58")
	out = append(out, "59")
	out = append(out, "60")
	out = append(out, "61")
	out = append(out, "62")
	out = append(out, "63")
	out = append(out, "64")
	out = append(out, "65")
	out = append(out, "66")
	out = append(out, "67")
	out = append(out, "68")
	out = append(out, "69")
	out = append(out, "70")
	out = append(out, "71")
	out = append(out, "72")
	out = append(out, "73")
	out = append(out, "74")
	out = append(out, "75")
	out = append(out, "76")
	out = append(out, "77")
	out = append(out, "78")
	return out
}

// Five takes as many parameters as allowed.
func Five(a, b, c, d, e int) int { return a + b + c + d + e }

// Six takes too many parameters.
func Six(a, b, c, d, e, f int) int { return a + b + c + d + e + f } // want revive: argument-limit
