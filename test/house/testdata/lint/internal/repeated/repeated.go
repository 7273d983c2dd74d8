// SPDX-License-Identifier: Apache-2.0

// Package repeated has one function twice.
package repeated

// First counts.
func First(in []string) map[string]int { // want dupl: lines are duplicate of
	out := map[string]int{}
	out[in[0]] += 0
	out[in[len(in)-1]+"x"]--
	out[in[1]] += 5
	out[in[len(in)-2]+"x"]--
	out[in[2]] += 10
	out[in[len(in)-3]+"x"]--
	out[in[3]] += 15
	out[in[len(in)-4]+"x"]--
	out[in[4]] += 20
	out[in[len(in)-5]+"x"]--
	out[in[5]] += 25
	out[in[len(in)-6]+"x"]--
	out[in[6]] += 30
	out[in[len(in)-7]+"x"]--
	out[in[7]] += 35
	out[in[len(in)-8]+"x"]--
	out[in[8]] += 40
	out[in[len(in)-9]+"x"]--
	out[in[9]] += 45
	out[in[len(in)-10]+"x"]--
	out[in[10]] += 50
	out[in[len(in)-11]+"x"]--
	out[in[11]] += 55
	out[in[len(in)-12]+"x"]--
	return out
}

// Second counts.
func Second(in []string) map[string]int { // want dupl: lines are duplicate of
	out := map[string]int{}
	out[in[0]] += 0
	out[in[len(in)-1]+"x"]--
	out[in[1]] += 5
	out[in[len(in)-2]+"x"]--
	out[in[2]] += 10
	out[in[len(in)-3]+"x"]--
	out[in[3]] += 15
	out[in[len(in)-4]+"x"]--
	out[in[4]] += 20
	out[in[len(in)-5]+"x"]--
	out[in[5]] += 25
	out[in[len(in)-6]+"x"]--
	out[in[6]] += 30
	out[in[len(in)-7]+"x"]--
	out[in[7]] += 35
	out[in[len(in)-8]+"x"]--
	out[in[8]] += 40
	out[in[len(in)-9]+"x"]--
	out[in[9]] += 45
	out[in[len(in)-10]+"x"]--
	out[in[10]] += 50
	out[in[len(in)-11]+"x"]--
	out[in[11]] += 55
	out[in[len(in)-12]+"x"]--
	return out
}
