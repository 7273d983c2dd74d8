// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// store is the etcd of a world, which holds the objects of its API server.
type store struct{ url string }

// store returns the running etcd.
func (c *components) store() store { return store{c.loopback("http", portEtcd)} }

// ask sends a request to the JSON gateway of etcd.
func (s store) ask(ctx context.Context, verb string, request map[string]any, answer any) (err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v3/kv/"+verb, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s", response.Status, &text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text.Bytes(), answer)
}
