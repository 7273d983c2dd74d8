// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const statusField = "Status"

// StatusOf is the address of an object's status.
func StatusOf(of client.Object) any {
	return reflect.ValueOf(of).Elem().FieldByName(statusField).Addr().Interface()
}

// StatusPatch returns the changes in the status of an object since it was like that, with the lock if that is asked for.
// The second object receives the answer to the patch. The other parts of both, which are the larger ones, are not encoded only
// to find them equal.
func StatusPatch(is, was client.Object, lock bool) (client.Patch, client.Object) {
	before, answer := onlyStatus(was), onlyStatus(is)
	if lock {
		return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), answer
	}
	before.SetResourceVersion(answer.GetResourceVersion())
	return client.MergeFrom(before), answer
}

// onlyStatus is a new object with the name, the version and the status of another.
func onlyStatus(of client.Object) client.Object {
	from := reflect.ValueOf(of).Elem()
	to := reflect.New(from.Type())
	to.Elem().FieldByName(statusField).Set(from.FieldByName(statusField))
	out := to.Interface().(client.Object)
	out.SetNamespace(of.GetNamespace())
	out.SetName(of.GetName())
	out.SetUID(of.GetUID())
	out.SetResourceVersion(of.GetResourceVersion())
	return out
}
