// SPDX-License-Identifier: Apache-2.0

// Package planrequest answers PlanRequests: it plans with the operator's own AWS identity what the operator would do about
// manifests or objects of the request's namespace, and writes nothing but the answer.
package planrequest
