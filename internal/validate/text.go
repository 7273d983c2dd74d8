// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
)

// manifestText holds the mistakes in local files that reading them as objects does not name well, or not at all.
type manifestText struct {
	// mistakes lists the mistakes of each file.
	mistakes map[string][]string
	// quoted lists the objects that only values of their metadata keep from being read, with these as texts.
	quoted []*unstructured.Unstructured
}

// textMistakes reads the text of local files: of a key that is set twice, the reader of Kubernetes takes the last one without a word.
func textMistakes(files *resource.FilenameOptions, stdin []byte) (manifestText, error) {
	out := manifestText{mistakes: map[string][]string{}}
	for _, name := range files.Filenames {
		if name == connection.StandardInput {
			out.read("standard input", stdin)
			continue
		}
		paths, err := ManifestFiles(name, files.Recursive)
		if err != nil {
			return manifestText{}, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return manifestText{}, err
			}
			out.read(path, text)
		}
	}
	return out, nil
}

func (m *manifestText) read(name string, text []byte) {
	mistakes, quoted := mistakesIn(text)
	if len(mistakes) > 0 {
		m.mistakes[name] = mistakes
	}
	m.quoted = append(m.quoted, quoted...)
}

// ManifestFiles returns the files that kubectl reads for a name. A URL has none.
func ManifestFiles(name string, recursive bool) ([]string, error) {
	var out []string
	err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == name:
			return nil
		case err != nil:
			return err
		case d.IsDir() && path != name && !recursive:
			return fs.SkipDir
		case !d.IsDir() && (path == name || slices.Contains(resource.FileExtensions, filepath.Ext(path))):
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// mistakesIn returns the mistakes in the documents of one file, with their lines in the file, and the objects that have such in their
// metadata alone.
func mistakesIn(text []byte) (out []string, quoted []*unstructured.Unstructured) {
	first := 0 // lines before the document
	seen := map[string]bool{}
	for _, document := range splitDocuments(text) {
		var content any
		err := yaml.UnmarshalStrict(document, &content)
		object, is := content.(map[string]any)
		switch {
		case err != nil:
			out = append(out, yamlMistakes(err, first, text)...)
		case content == nil:
		case !is:
			out = append(out, fmt.Sprintf("line %d: the document is no object: it has no fields", first+1))
		default:
			for _, mistake := range objectMistakes("", object, seen) {
				out = append(out, fmt.Sprintf("the object at line %d: %s", first+1, mistake))
			}
			if u := withQuotedMetadata(object); u != nil {
				quoted = append(quoted, u)
			}
		}
		first += bytes.Count(document, []byte("\n"))
	}
	return out, quoted
}

// withQuotedMetadata returns an object with texts in its metadata where they should be; nil for one that has them, or cannot be read.
func withQuotedMetadata(object map[string]any) *unstructured.Unstructured {
	metadata, _ := object["metadata"].(map[string]any)
	made := false
	quote := func(in map[string]any, key string) {
		switch in[key].(type) {
		case bool, float64, int64:
			in[key], made = fmt.Sprint(in[key]), true
		}
	}
	for _, field := range metadataTexts {
		quote(metadata, field)
	}
	for _, field := range metadataMaps {
		values, _ := metadata[field].(map[string]any)
		for key := range values {
			quote(values, key)
		}
	}
	u := &unstructured.Unstructured{}
	text, err := json.Marshal(object)
	if !made || err != nil || u.UnmarshalJSON(text) != nil {
		return nil
	}
	return u
}

// metadataTexts are the texts of the metadata that people write, and metadataMaps the maps of such.
var metadataTexts, metadataMaps = []string{"name", "generateName", "namespace"}, []string{"labels", "annotations"}

// objectMistakes returns the mistakes that keep a document from being read as an object, and notes the objects of our kinds. Of two objects
// with the same name, the last would be taken without a warning. The items of a list have the path of the item before their mistakes.
func objectMistakes(at string, object map[string]any, seen map[string]bool) []string {
	mistakes := typeMistakes(at, object)
	if len(mistakes) > 0 {
		return mistakes
	}
	mistakes = metadataMistakes(at, object)
	u := &unstructured.Unstructured{Object: object}
	key := strings.Join([]string{u.GetAPIVersion(), u.GetKind(), u.GetNamespace(), u.GetName()}, " ")
	if u.GetName() != "" && seen[key] && isOurGroup(u.GroupVersionKind().Group) {
		mistakes = append(mistakes, console.TitleOf(u)+" is in the file twice")
	}
	seen[key] = true
	items, is := object["items"].([]any)
	if !is && object["items"] != nil && u.GetKind() == "List" {
		return append(mistakes, mistyped(at+"items", "array", typeOf(object["items"])))
	}
	for i, item := range items {
		content, is := item.(map[string]any)
		if !is {
			mistakes = append(mistakes, mistyped(fmt.Sprintf("%sitems[%d]", at, i), "object", typeOf(item)))
			continue
		}
		mistakes = append(mistakes, objectMistakes(fmt.Sprintf("%sitems[%d].", at, i), content, seen)...)
	}
	return mistakes
}

// typeMistakes names the mistakes in the fields that give an object its kind.
func typeMistakes(at string, object map[string]any) []string {
	var out []string
	for _, field := range []string{"apiVersion", "kind"} {
		switch value := object[field].(type) {
		case string:
		case nil:
			if field == "apiVersion" && at == "" {
				continue // one of the verdicts on the object
			}
			mistake := at + field + ": Required value"
			if object["resources"] != nil || object["patches"] != nil {
				mistake += "; a kustomization.yaml is read with -k"
			}
			out = append(out, mistake)
		default:
			out = append(out, mistyped(at+field, "string", typeOf(value)))
		}
	}
	return out
}

// metadataMistakes names the fields of the metadata that have a wrong type. The reader of Kubernetes ends at them, and names the types of
// Go.
func metadataMistakes(at string, object map[string]any) []string {
	metadata, is := object["metadata"].(map[string]any)
	if !is && object["metadata"] != nil {
		return []string{mistyped(at+"metadata", "object", typeOf(object["metadata"]))}
	}
	var out []string
	for _, field := range slices.Sorted(maps.Keys(metadata)) {
		path, value := at+"metadata."+field, metadata[field]
		values, is := value.(map[string]any)
		if !is || !slices.Contains(metadataMaps, field) {
			out = append(out, metadataMistake(path, field, value)...)
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if _, is := values[key].(string); !is && values[key] != nil {
				out = append(out, mistyped(path+"."+key, "string", typeOf(values[key])))
			}
		}
	}
	return out
}

// metadataMistake reads one field of the metadata as Kubernetes does.
func metadataMistake(path, field string, value any) []string {
	text, err := json.Marshal(map[string]any{field: value})
	if err == nil {
		err = json.Unmarshal(text, &metav1.ObjectMeta{})
	}
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return []string{mistyped(strings.TrimSuffix(path, field)+wrong.Field, jsonTypes[wrong.Type.Kind()],
			strings.ReplaceAll(wrong.Value, "bool", "boolean"))}
	}
	if _, is := errors.AsType[*time.ParseError](err); is {
		return []string{path + ": must be a time such as 2026-01-31T15:04:05Z"}
	}
	if err != nil {
		return []string{path + ": " + err.Error()}
	}
	return nil
}

// jsonTypes are the names that schemas have for types of Go. A time is written as a text.
var jsonTypes = map[reflect.Kind]string{
	reflect.String: "string", reflect.Int64: "integer", reflect.Float64: "number", reflect.Bool: "boolean", reflect.Slice: "array",
	reflect.Map: "object", reflect.Struct: "object",
}

// mistyped names a value of another type than a field has, as the messages about the spec do.
func mistyped(path, want, has string) string {
	out := fmt.Sprintf("%s: must be of type %s: %q", path, want, has)
	if want == "string" && (has == "boolean" || has == "number") {
		out += ": write it in quotes"
	}
	return out
}

func typeOf(value any) string { return jsonTypes[reflect.ValueOf(value).Kind()] }

// IsManifest reports whether an argument is the name of a file with manifests, which a flag should name.
func IsManifest(arg string) bool {
	_, err := os.Stat(arg)
	return err == nil && slices.Contains(resource.FileExtensions, filepath.Ext(arg))
}

// splitDocuments cuts a text before each line that begins a document.
func splitDocuments(text []byte) [][]byte {
	var out [][]byte
	var document []byte
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("---")) {
			out = append(out, document)
			document = nil
		}
		document = append(document, line...)
	}
	return append(out, document)
}

// lineInDocument matches one mistake of the YAML parser.
var lineInDocument = regexp.MustCompile(`line (\d+): (.*)`)

// yamlMistakes are the mistakes that the parser found in a document that begins after some lines of a text.
func yamlMistakes(err error, before int, text []byte) []string {
	found := lineInDocument.FindAllStringSubmatch(err.Error(), -1)
	if len(found) == 0 {
		return []string{strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: ")}
	}
	lines := bytes.Split(text, []byte("\n"))
	var out []string
	for _, m := range found {
		n, _ := strconv.Atoi(m[1])
		n += before
		mistake := strings.Replace(m[2], "already set in map", "is set twice", 1)
		if n <= len(lines) && strings.Contains(mistake, "cannot start any token") &&
			bytes.HasPrefix(bytes.TrimLeft(lines[n-1], " "), []byte("\t")) {
			mistake = "the line is indented by a tab: use spaces"
		}
		out = append(out, fmt.Sprintf("line %d: %s", n, mistake))
	}
	return out
}
