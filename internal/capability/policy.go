package capability

import (
	"bytes"
	"encoding/json"
)

// conditions are operator → key → values.
type conditions map[string]map[string][]string

// statement of a policy document; always Allow.
type statement struct {
	Sid       string            `json:",omitempty"`
	Effect    string            `json:""`
	Principal map[string]string `json:",omitempty"`
	Action    []string          `json:""`
	Resource  []string          `json:",omitempty"`
	Condition conditions        `json:",omitempty"`
}

// document encodes a policy document, compact because AWS counts its characters. It is encoded from
// structs, never put together from text, so no name can change its meaning.
func (k *compiler) document(statements ...statement) string {
	for i := range statements {
		statements[i].Effect = "Allow"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the tokens for what is not known yet stay readable
	err := e.Encode(struct {
		Version   string
		Statement []statement
	}{"2012-10-17", statements})
	if err != nil {
		k.fail(err)
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}
