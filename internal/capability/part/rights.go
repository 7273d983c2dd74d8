// SPDX-License-Identifier: Apache-2.0

package part

import (
	"slices"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// AppStatements returns the statements that allow the use of exactly the resources that the capability is proven to own, and of the models
// and other Bedrock resources that it names. A name alone gives no right to a store: another capability, or a user of AWS, could have
// taken it first.
func (k *Compiler) AppStatements() []iampolicy.Statement {
	var out []iampolicy.Statement
	rights := InTurn(k.Parts, func(p Part) []Turn[Granting] { return p.Rights })
	for _, of := range rights {
		out = append(out, of(k)...)
	}
	return out
}

// KeyUse lists the actions for reading and writing encrypted data.
var KeyUse = []string{"kms:Decrypt", "kms:GenerateDataKey"}

// KeyReads lists the actions for reading encrypted data.
var KeyReads = []string{"kms:Decrypt"}

// maxNamedStores limits the stores that the condition of a key names one by one; more are named by their common prefix. The prefix may
// match stores of others too, but the role has no right to read or to write their data.
const maxNamedStores = 8

// ByPrefix returns the names of stores, or their common prefix where they are many.
func (k *Compiler) ByPrefix(names []string, prefix string) []string {
	if len(names) > maxNamedStores {
		return []string{prefix + k.Names.Of("*")}
	}
	return names
}

// Service is the name of an AWS service in a region, as kms:ViaService has it.
// https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
func (h Home) Service(name string) string {
	return name + "." + h.Region + "." + wellknown.DNSSuffix(h.Partition)
}

// WithResources leaves out the statements that name no resource.
func WithResources(statements ...iampolicy.Statement) []iampolicy.Statement {
	return slices.DeleteFunc(statements, func(s iampolicy.Statement) bool { return len(s.Resource) == 0 })
}

// SessionSeconds limits a session of a compiled role: AWS's default.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_update-role-settings.html
const SessionSeconds int32 = 3600

// RightsWithin returns the rights of an access: exactly the use of the entries that it lists, and none for an empty one.
func (k *Compiler) RightsWithin(a AccessSet) []iampolicy.Statement {
	if a.IsNone() {
		return nil
	}
	return k.Within(a).AppStatements()
}

// BoundaryOf returns the permissions boundary of the capability, or that of the provider if the capability has none. "" declares no
// boundary, which is refused for a role that has one in AWS.
func BoundaryOf(k *Compiler) *string {
	if id := k.Spec.Identity; id != nil && id.PermissionsBoundaryARN != "" {
		return &id.PermissionsBoundaryARN
	}
	return &k.Facts.Provider.Boundary
}
