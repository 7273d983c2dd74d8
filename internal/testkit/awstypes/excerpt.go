// SPDX-License-Identifier: Apache-2.0

package awstypes

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

//go:embed excerpt.json
var excerpt []byte

// excerpted are the types of the excerpt: one of each shape of identity and tags, one without handlers, and a few with values that AWS
// shows in another form.
var excerpted = []string{
	"AWS::AppMesh::Mesh", "AWS::CloudTrail::EventDataStore", "AWS::DAX::SubnetGroup", "AWS::DSQL::Cluster", "AWS::EC2::PrefixList",
	"AWS::EFS::FileSystem", "AWS::Kinesis::Stream",
	"AWS::Lambda::Alias", "AWS::Logs::MetricFilter", "AWS::Personalize::MetricAttribution",
	"AWS::Route53Resolver::ResolverRule", "AWS::SSM::Parameter", "AWS::SecretsManager::Secret", "AWS::StepFunctions::StateMachine",
}

// content is the form of excerpt.json.
type content struct {
	// Source is the name and the version of the package that the schemas are of, and Date is that of the package.
	Source string                     `json:"source"`
	Date   string                     `json:"date"`
	Region string                     `json:"region"`
	Types  map[string]json.RawMessage `json:"types"`
}

// Excerpt returns the types with checked-in schemas, of region us-east-1: those of the tests that run everywhere. No other type exists in
// it. To add one, name it in excerpted and run `make awstypes`.
func Excerpt() (*Types, error) {
	var c content
	if err := json.Unmarshal(excerpt, &c); err != nil {
		return nil, fmt.Errorf("excerpt.json: %w", err)
	}
	return &Types{excerpt: c.Types}, nil
}

// MakeExcerpt returns the content of excerpt.json, made from the wheel: the schemas without their descriptions.
func MakeExcerpt() ([]byte, error) {
	version, err := pinned()
	if err != nil {
		return nil, err
	}
	all, err := Open("us-east-1")
	if err != nil {
		return nil, err
	}
	c := content{Source: "cfn-lint " + version, Date: dateOf(&all.archive.Reader), Region: "us-east-1", Types: map[string]json.RawMessage{}}
	for _, name := range excerpted {
		text, err := all.Schema(name)
		if err == nil && text == nil {
			err = fmt.Errorf("there is no type %s", name)
		}
		if err == nil {
			c.Types[name], err = minified(text)
		}
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
	}
	out, err := c.text()
	return out, errors.Join(err, all.Close())
}

// text returns the file, with a line for each type.
func (c content) text() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"source\":%q,\"date\":%q,\"region\":%q,\"types\":{\n", c.Source, c.Date, c.Region)
	for i, name := range slices.Sorted(maps.Keys(c.Types)) {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "%q:%s", name, c.Types[name])
	}
	b.WriteString("\n}}\n")
	if !json.Valid(b.Bytes()) {
		return nil, errors.New("the excerpt is no JSON")
	}
	return b.Bytes(), nil
}

// dateOf returns the date of the newest file of an archive.
func dateOf(archive *zip.Reader) string {
	var newest time.Time
	for _, f := range archive.File {
		if f.Modified.After(newest) {
			newest = f.Modified
		}
	}
	return newest.UTC().Format(time.DateOnly)
}

// minified returns a schema without spaces and descriptions.
func minified(text []byte) ([]byte, error) {
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(withoutDescriptions(schema))
	return bytes.TrimSpace(out.Bytes()), err
}

// withoutDescriptions leaves out texts for people. A property may be called description, too, and is an object.
func withoutDescriptions(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			if _, isText := member.(string); isText && (name == "description" || name == "$comment") {
				continue
			}
			out[name] = withoutDescriptions(member)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = withoutDescriptions(element)
		}
		return out
	default:
		return value
	}
}
