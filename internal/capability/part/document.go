// SPDX-License-Identifier: Apache-2.0

package part

import "github.com/nexus-operator/nexus-operator/internal/iampolicy"

// Document encodes a policy document that allows the statements.
func (k *Compiler) Document(statements ...iampolicy.Statement) string {
	for i := range statements {
		statements[i].Effect = iampolicy.Allow
	}
	text, err := iampolicy.New(statements...).Encode()
	if err != nil {
		k.Fail(err)
	}
	return text
}
