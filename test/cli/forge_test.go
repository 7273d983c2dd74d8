// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// comment is a comment on the pull request.
type comment struct {
	id           int
	author, body string
}

// forge answers as the API of GitHub or GitLab does for one pull request, number 7 of project acme/app (42), and serves a release of
// nexusctl. It keeps comments and labels, and records the requests that the shell steps send.
type forge struct {
	*httptest.Server
	gitlab bool
	mu     sync.Mutex
	// labels holds the names of the labels of the pull request.
	labels   []string
	comments []comment
	// requests are the methods and paths of the requests to the API.
	requests []string
	// refuse returns the status of a request that fails; 0 for one that does not.
	refuse   func(method, path string) int
	releases map[string][]byte
}

// The users of the forge, by the names that GitHub and the IDs that GitLab gives them, and the longest comment of each forge.
const (
	forgeToken             = "token-of-the-job"
	ownUser, foreignUser   = "github-actions[bot]", "somebody"
	ownID, foreignID       = 11, 12
	githubLimit, gitlabMax = 65536, 1000000
)

func newForge(t *testing.T, gitlab bool) *forge {
	t.Helper()
	f := &forge{gitlab: gitlab, refuse: func(string, string) int { return 0 }, releases: map[string][]byte{}}
	mux := http.NewServeMux()
	pull, one := "/repos/acme/app/issues/7", "PATCH /repos/acme/app/issues/comments/{id}"
	comments := pull + "/comments"
	if gitlab {
		pull = "/api/v4/projects/42/merge_requests/7"
		comments, one = pull+"/notes", "PUT "+pull+"/notes/{id}"
	}
	mux.HandleFunc("GET "+pull, f.pull)
	mux.HandleFunc("GET "+comments, f.list)
	mux.HandleFunc("POST "+comments, f.create)
	mux.HandleFunc(one, f.replace)
	mux.HandleFunc("GET /api/v4/user", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, map[string]any{"id": ownID})
	})
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.admit(mux, w, r) })
	root := http.NewServeMux()
	root.Handle("/", api)
	root.HandleFunc("GET /releases/{version}/{file}", func(w http.ResponseWriter, r *http.Request) {
		content, found := f.releases[r.PathValue("version")+"/"+r.PathValue("file")]
		if !found {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	})
	f.Server = httptest.NewServer(root)
	t.Cleanup(f.Close)
	return f
}

// admit records a request, and hands it on unless it has no token or is to fail.
func (f *forge) admit(next http.Handler, w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if f.gitlab {
		given = r.Header.Get("PRIVATE-TOKEN")
	}
	if given != forgeToken {
		answerJSON(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
		return
	}
	if status := f.refuse(r.Method, r.URL.Path); status != 0 {
		answerJSON(w, status, map[string]any{"message": "Refused by the test"})
		return
	}
	next.ServeHTTP(w, r)
}

func answerJSON(w http.ResponseWriter, status int, content any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(content)
}

func (f *forge) pull(w http.ResponseWriter, _ *http.Request) {
	if f.gitlab {
		answerJSON(w, http.StatusOK, map[string]any{"iid": 7, "labels": append([]string{}, f.labels...)})
		return
	}
	labels := []map[string]string{}
	for _, l := range f.labels {
		labels = append(labels, map[string]string{"name": l})
	}
	answerJSON(w, http.StatusOK, map[string]any{"number": 7, "labels": labels})
}

func (f *forge) list(w http.ResponseWriter, r *http.Request) {
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	size, serr := strconv.Atoi(r.URL.Query().Get("per_page"))
	if err != nil || serr != nil || size > 100 {
		answerJSON(w, http.StatusBadRequest, map[string]any{"message": "no page"})
		return
	}
	from := min((page-1)*size, len(f.comments))
	out := []map[string]any{}
	for _, c := range f.comments[from:min(from+size, len(f.comments))] {
		out = append(out, f.shown(c))
	}
	answerJSON(w, http.StatusOK, out)
}

func (f *forge) shown(c comment) map[string]any {
	if f.gitlab {
		id := map[string]int{ownUser: ownID, foreignUser: foreignID}[c.author]
		return map[string]any{"id": c.id, "body": c.body, "author": map[string]any{"id": id}}
	}
	return map[string]any{"id": c.id, "body": c.body, "user": map[string]any{"login": c.author}}
}

// body reads the text of a comment, and refuses one that is too long for the forge.
func (f *forge) body(w http.ResponseWriter, r *http.Request) (string, bool) {
	limit := githubLimit
	if f.gitlab {
		limit = gitlabMax
	}
	var sent struct{ Body string }
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || sent.Body == "" || len([]rune(sent.Body)) > limit {
		answerJSON(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed"})
		return "", false
	}
	return sent.Body, true
}

func (f *forge) create(w http.ResponseWriter, r *http.Request) {
	if body, ok := f.body(w, r); ok {
		f.add(ownUser, body)
		answerJSON(w, http.StatusCreated, f.shown(f.comments[len(f.comments)-1]))
	}
}

func (f *forge) replace(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(f.comments, func(c comment) bool { return strconv.Itoa(c.id) == r.PathValue("id") })
	if i < 0 {
		answerJSON(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
		return
	}
	if body, ok := f.body(w, r); ok {
		f.comments[i].body = body
		answerJSON(w, http.StatusOK, f.shown(f.comments[i]))
	}
}

// add adds a comment, as its author would.
func (f *forge) add(author, body string) {
	f.comments = append(f.comments, comment{id: 1000 + len(f.comments), author: author, body: body})
}

// own returns the comments of the job's user.
func (f *forge) own() []comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []comment
	for _, c := range f.comments {
		if c.author == ownUser {
			out = append(out, c)
		}
	}
	return out
}

// writes returns the writes to the API since the last call of it.
func (f *forge) writes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(f.requests), func(r string) bool { return strings.HasPrefix(r, "GET ") })
	f.requests = nil
	return out
}

// refuses makes requests fail from now on.
func (f *forge) refuses(refuse func(method, path string) int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

// release puts a release of nexusctl with the scripts on the server, packed as dev/release packs it.
func (f *forge) release(t *testing.T, version, program string) {
	t.Helper()
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(compressed)
	scripts, err := filepath.Glob("../../.github/actions/plan/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%q %v", scripts, err)
	}
	for name, content := range packedFiles(t, program, scripts) {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	sums := strings.Repeat("0", 64) + "  another-file\n"
	for _, arch := range []string{"amd64", "arm64"} { // the template names one; what it unpacks is the program of this machine
		name := "nexusctl-" + version + "-linux-" + arch + ".tar.gz"
		f.releases["v"+version+"/"+name] = packed.Bytes()
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(packed.Bytes()), name)
	}
	f.releases["v"+version+"/SHA256SUMS"] = []byte(sums)
}

// packedFiles returns the files of a release. Instead of the program it has a script that runs it: checking and unpacking 130 megabytes
// takes two seconds of processor time for each run of a job.
func packedFiles(t *testing.T, program string, scripts []string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"nexusctl": fmt.Appendf(nil, "#!/bin/sh\nexec '%s' \"$@\"\n", program)}
	for _, s := range scripts {
		content, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		out["pull-requests/"+filepath.Base(s)] = content
	}
	return out
}
