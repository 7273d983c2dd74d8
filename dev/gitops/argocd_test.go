// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	scriptFile    = "../../examples/gitops/argocd/health.lua"
	configMapFile = "../../examples/gitops/argocd/argocd-cm.yaml"
	crdFiles      = "../../config/crd/bases/*.yaml"
)

// health is the result of a health script.
type health struct{ Status, Message string }

// toLua converts a value of JSON as Argo CD does.
func toLua(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case int64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		list := l.NewTable()
		for _, item := range v {
			list.Append(toLua(l, item))
		}
		return list
	case map[string]any:
		table := l.NewTable()
		for key, item := range v {
			table.RawSetString(key, toLua(l, item))
		}
		return table
	}
	return lua.LNil
}

// judge runs a health script over an object with the libraries that Argo CD allows by default: no string functions.
func judge(t *testing.T, script string, object *unstructured.Unstructured) health {
	t.Helper()
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	l.SetContext(t.Context())
	l.SetGlobal("obj", toLua(l, object.Object))
	if err := l.DoString(script); err != nil {
		t.Fatalf("the script fails: %v", err)
	}
	result, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns %s and no table", l.Get(-1).Type())
	}
	return health{Status: result.RawGetString("status").String(), Message: result.RawGetString("message").String()}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// customizations returns the health scripts of the ConfigMap by their pattern of group and kind.
func customizations(t *testing.T) map[string]string {
	t.Helper()
	configMap := struct {
		Data map[string]string `json:"data"`
	}{}
	if err := yaml.UnmarshalStrict([]byte(dropMetadata(read(t, configMapFile))), &configMap); err != nil {
		t.Fatal(err)
	}
	entries := map[string]map[string]string{}
	if err := yaml.UnmarshalStrict([]byte(configMap.Data["resource.customizations"]), &entries); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for pattern, entry := range entries {
		out[pattern] = entry["health.lua"]
	}
	return out
}

// dropMetadata leaves only the data of a ConfigMap's manifest.
func dropMetadata(text string) string {
	_, data, _ := strings.Cut(text, "\ndata:\n")
	return "data:\n" + data
}

func TestArgoCDConfigMap_HasTheScriptForEveryKind(t *testing.T) {
	scripts := customizations(t)
	script := strings.TrimSpace(read(t, scriptFile))
	files, err := filepath.Glob(crdFiles)
	if err != nil || len(files) < 16 {
		t.Fatalf("%q %v", files, err)
	}
	used := map[string]bool{}
	for _, file := range files {
		crd := struct {
			Spec struct {
				Group string                `json:"group"`
				Names struct{ Kind string } `json:"names"`
			} `json:"spec"`
		}{}
		if err := yaml.Unmarshal([]byte(read(t, file)), &crd); err != nil {
			t.Fatal(err)
		}
		var matches []string
		for pattern, text := range scripts {
			glob := "^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$"
			if regexp.MustCompile(glob).MatchString(crd.Spec.Group + "/" + crd.Spec.Names.Kind) {
				matches = append(matches, pattern)
				used[pattern] = true
				if strings.TrimSpace(text) != script {
					t.Errorf("%s: the script differs from health.lua", pattern)
				}
			}
		}
		if len(matches) != 1 {
			t.Errorf("%s/%s has %d health scripts: %q", crd.Spec.Group, crd.Spec.Names.Kind, len(matches), matches)
		}
	}
	if len(used) != len(scripts) {
		t.Errorf("patterns match no kind: %d of %d are used", len(used), len(scripts))
	}
}

func TestHealthScript_EndsInTime(t *testing.T) {
	object := at(1, 1, nil)
	conditions := []any{}
	for range 32 { // the most that a status may hold
		conditions = append(conditions, map[string]any{"type": "X", "status": "True", "message": strings.Repeat("m", 1024)})
	}
	object.Object["status"].(map[string]any)["conditions"] = conditions
	begin := time.Now()
	got := judge(t, read(t, scriptFile), object)
	if got.Status != "Progressing" || time.Since(begin) > time.Second { // Argo CD stops a script after one second
		t.Errorf("%+v after %v", got, time.Since(begin))
	}
}
