// SPDX-License-Identifier: Apache-2.0

// Package inspect answers a person's questions about a running operator and its objects: the health of the operator, the conditions of
// objects, the tree below an object, the cause of trouble in that tree, and drift. It writes nothing, and reads with the rights of the
// person who asks. Every result has a versioned shape.
package inspect
