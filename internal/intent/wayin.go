// SPDX-License-Identifier: Apache-2.0

package intent

import "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"

// LetsOnlyPodsIn reports whether a SecurityIntent closes the pods that it is bound to for all callers but pods, whatever
// the addresses of the others. One with invalid parameters closes nothing, because no engine enforces it.
func LetsOnlyPodsIn(i *v1alpha1.SecurityIntent) bool {
	if i == nil {
		return false
	}
	r := ruleOf(i)
	e, _ := Lookup(r.ID)
	named := len(r.Params["fromNamespaces"])+len(r.Params["fromServiceAccounts"]) > 0
	return e.ID == segmentation && named && !r.Audit() && e.Check(r.Params) == ""
}

// segmentation is the intent that names the namespaces and ServiceAccounts whose pods may call.
const segmentation = "networkSegmentation"
