// SPDX-License-Identifier: Apache-2.0

package docblocks

import (
	"slices"
	"strings"
	"testing"
)

func TestShell_DividesWhatPagesUse(t *testing.T) {
	text := `export A=1 B=$(aws sts get-caller-identity --query 'Account')
kubectl get x -o jsonpath='{range .a[*]}{"\n"}{end}' | grep -E '(a|b)' > out.txt # a comment
nexusctl plan \
  -f a.yaml && echo "done $(date)"
for d in a-*; do
  aws iam create-policy --name "N-${d##*-}"
done
kubectl apply -f - <<'YAML'
apiVersion: v1
kind: X # not a command
YAML
kubectl get y
`
	var got []string
	all := Shell(text, 10)
	for _, c := range all {
		got = append(got, strings.Join(c.Words, "·"))
	}
	want := []string{
		"aws·sts·get-caller-identity·--query·Account", `kubectl·get·x·-o·jsonpath={range .a[*]}{"\n"}{end}`, "grep·-E·(a|b)",
		"nexusctl·plan·-f·a.yaml", "date", "echo·done $()",
		"aws·iam·create-policy·--name·N-${d##*-}", "kubectl·apply·-f·-", "kubectl·get·y",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := all[7]; !strings.HasPrefix(c.Input, "apiVersion: v1\nkind: X") || strings.Contains(c.Input, "YAML") {
		t.Errorf("input %q", c.Input)
	}
	if line := all[8].Line; line != 21 {
		t.Errorf("the last command is on line %d", line)
	}
}

func TestOf_FindsBlocksAndTheirManifests(t *testing.T) {
	page := "# A\n\n1. b\n\n    ```sh\n    make x\n    ```\n\n```yaml\na: 1\n---\n# no document\n---\nb: 2\n```\n\n```console\n$ kubectl get x\nNAME\n```\n"
	blocks := Of("p.md", page)
	if len(blocks) != 3 || blocks[0] != (Block{Page: "p.md", Line: 6, Language: "sh", Text: "make x\n"}) {
		t.Fatalf("%+v", blocks)
	}
	if m := Manifests(blocks); len(m) != 2 || m[1] != (Manifest{Place: "p.md:10", Text: "\nb: 2\n"}) {
		t.Errorf("%+v", m)
	}
	if c := blocks[2].Commands(); len(c) != 1 || c[0].Words[0] != "kubectl" || c[0].Line != 18 {
		t.Errorf("%+v", c)
	}
}
