// SPDX-License-Identifier: Apache-2.0

// Package planrequest answers PlanRequests: it plans the operator's actions for manifests or objects of the request's namespace, with the
// operator's own AWS identity, and writes only the answer.
package planrequest
