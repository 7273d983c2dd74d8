// SPDX-License-Identifier: Apache-2.0

// Package main has a function that nothing calls, to show that the check for dead code reports it.
package main

func main() {}

func neverCalled() {}
