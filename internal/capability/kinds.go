// SPDX-License-Identifier: Apache-2.0

package capability

// IsStore reports whether objects of a kind hold data that is lost when their AWS resource is deleted, or the key without which data
// cannot be read. Secrets Manager keeps a deleted secret for its recovery window.
func IsStore(kind string) bool { return allParts().FactsOf(kind).Store || IsStoreKind(kind) }

// IsStoreOrSecret reports whether objects of a kind are stores or secrets.
func IsStoreOrSecret(kind string) bool { return IsStore(kind) || allParts().FactsOf(kind).IsSecret }

// IsKept reports whether the AWS resource of a declared object stays when only the object is deleted: a store, a secret with its value,
// which are the kinds whose Meta has HoldsData, or a database of the catalog, whose deletion would wait for its tables.
func IsKept(kind string) bool { return IsStoreOrSecret(kind) || allParts().FactsOf(kind).Kept }

// BilledTypes are the types of AWSResources that get the tag.
var BilledTypes = allParts().BilledTypes()
