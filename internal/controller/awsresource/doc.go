// SPDX-License-Identifier: Apache-2.0

// Package awsresource reconciles the objects of one AWS kind: it reads the object and the objects that it refers to, lets the engine decide
// and act, and writes the status.
package awsresource
