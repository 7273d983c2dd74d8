// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// storedKinds are the folders in etcd of the objects that an API server without users creates, and of CustomResourceDefinitions. Objects
// that differ from world to world, such as addresses and certificates, are in none of them.
var storedKinds = []string{
	"/registry/apiextensions.k8s.io/customresourcedefinitions/", "/registry/apiregistration.k8s.io/apiservices/",
	"/registry/clusterrolebindings/", "/registry/clusterroles/", "/registry/namespaces/", "/registry/priorityclasses/",
	"/registry/rolebindings/", "/registry/roles/",
}

// stored holds objects as an API server has written them to etcd, by their keys.
type stored struct {
	Kvs []struct{ Key, Value []byte }
}

// definitionsOf reads the CustomResourceDefinitions of files and folders.
func definitionsOf(paths []string) (objects []*unstructured.Unstructured, err error) {
	for _, path := range paths {
		found, err := ReadManifests(path)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// storedFile is the file in the cache with the objects that the API server of a world stores of these definitions before any other
// program runs. A server that begins with it needs half of the processor time: it makes its documents and handlers once, and not with each
// of fifty definitions and of the changes of their status.
func storedFile(o Options, definitions []*unstructured.Unstructured) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	server, err := os.Stat(filepath.Join(o.Programs, APIServer))
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(definitions)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, o.Programs, server.Size(), server.ModTime().UnixNano(), o.APIServerArgs, storedKinds)
	h.Write(text)
	return filepath.Join(cache, "stored", hex.EncodeToString(h.Sum(nil))[:16]+".json"), nil
}

// restore puts the content of the file into an etcd that has just begun, and is empty. Without a file that can be read, the API server
// begins with nothing.
func (s store) restore(ctx context.Context, etcd *process, file string, logf func(string, ...any)) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil // the first world of these definitions writes it
	}
	var kept, there stored
	if err := json.Unmarshal(text, &kept); err != nil {
		logf("%s: %v", file, err)
		return os.Remove(file)
	}
	// Poll, because etcd may not listen yet.
	err = poll(ctx, etcd, func(ctx context.Context) error {
		return s.ask(ctx, "range", map[string]any{"key": []byte("/registry/namespaces/default")}, &there)
	})
	if err != nil || len(there.Kvs) > 0 {
		return err // a world of an earlier process goes on
	}
	for _, kv := range kept.Kvs {
		if err := s.ask(ctx, "put", map[string]any{"key": kv.Key, "value": kv.Value}, nil); err != nil {
			return err
		}
	}
	return nil
}

// save writes the file, once the API server is ready and all definitions are established. Another world may do so at the same time.
func (s store) save(ctx context.Context, file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	var kept, all stored
	if err := s.ask(ctx, "range", map[string]any{"key": []byte("/registry/"), "range_end": []byte("/registry0")}, &all); err != nil {
		return err
	}
	for _, kv := range all.Kvs {
		if slices.ContainsFunc(storedKinds, func(folder string) bool { return strings.HasPrefix(string(kv.Key), folder) }) {
			kept.Kvs = append(kept.Kvs, kv)
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(file), "part-")
	if err != nil {
		return err
	}
	_, err = part.Write(text)
	if err = errors.Join(err, part.Close()); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return os.Rename(part.Name(), file)
}
