// SPDX-License-Identifier: Apache-2.0

package capability

import "github.com/nexus-operator/nexus-operator/internal/iampolicy"

// document encodes a policy document that allows the statements.
func (k *compiler) document(statements ...iampolicy.Statement) string {
	for i := range statements {
		statements[i].Effect = iampolicy.Allow
	}
	text, err := iampolicy.New(statements...).Encode()
	if err != nil {
		k.fail(err)
	}
	return text
}
