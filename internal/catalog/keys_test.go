// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// earlierKeys says of each kind that names keys whether something stays encrypted with a key when the resource gets another one, and why.
var earlierKeys = map[string]struct {
	needed bool
	why    string
}{
	"DynamoDBTable":        {true, "backups stay encrypted with the key of their time, and DynamoDB does not show who manages a key"},
	"S3Bucket":             {true, "objects stay encrypted with the key that they were written with"},
	"SQSQueue":             {true, "messages stay encrypted with the key that they were sent with"},
	"SNSTopic":             {true, "messages whose delivery is tried again stay encrypted with the key that they were published with"},
	"SecretsManagerSecret": {true, "a version of the secret stays encrypted with the key that it was put with"},
	"SSMParameterSet":      {true, "a parameter without a declared key keeps the one that it has"},
	"LogGroup":             {true, "events stay encrypted with the key that they were received with"},
	"LambdaFunction":       {true, "published versions and their snapshots keep the key of their time"},
	"EC2Instance":          {true, "EC2 does not describe the keys of volumes with the instance, so that no look proves which key they have"},
	"AWSResource":          {true, "a resource of any type may keep data under an earlier key"},
	"KMSKey":               {true, "an alias may move, by which others named the key"},
	"ECRRepository":        {false, "the key is immutable, and compared with that of the repository"},
	"EKSCluster":           {false, "the key is immutable, and compared with that of the cluster"},
	"RDSInstance":          {false, "the key is immutable, and compared with that of the instance"},
	"ECSCluster":           {false, "the key encrypts what passes in a session, and nothing that is kept"},
}

// A new kind without an answer would let a key be deleted that encrypts data.
func TestKindsThatNameKeysKeepThemForEarlierData(t *testing.T) {
	known := map[string]bool{}
	for _, e := range catalog.Kinds() {
		name := e.Name()
		known[name] = true
		keys, answered := earlierKeys[name]
		switch names := engine.MayUse(e.New(), "KMSKey") || name == "KMSKey"; {
		case names && !answered:
			t.Errorf("%s names keys: does anything stay encrypted with a key when it gets another one? Say so here, and in its Meta", name)
		case answered && !names:
			t.Errorf("%s names no keys", name)
		case e.Meta().KeepsEarlierKeys != keys.needed:
			t.Errorf("%s: KeepsEarlierKeys is %v, but %s", name, e.Meta().KeepsEarlierKeys, keys.why)
		}
	}
	for name := range earlierKeys {
		if !known[name] {
			t.Errorf("there is no kind %s", name)
		}
	}
}
