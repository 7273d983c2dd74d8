// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/imagebuild"
	"github.com/nexus-operator/nexus-operator/internal/importer"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// completionTimeout limits the time that a shell waits for a cluster that does not answer.
const completionTimeout = 3 * time.Second

// completes lists the kinds of arguments of each verb, for the completion of a shell.
type completes struct {
	// words are complete arguments; kinds stand before a slash and a name, which is that of an object in the cluster.
	words, kinds []string
	// several is true where more than one argument is an object.
	several bool
}

// completer completes command lines for a shell.
type completer struct {
	*connection.Connection
}

// addCompletions says of every verb with arguments how a shell completes them, and of the flags that name something in the
// cluster. No failure is reported: without an answer, the shell completes nothing.
func (s *completer) addCompletions(root *cobra.Command) {
	capability := completes{kinds: []string{"ncap"}}
	everything := completes{kinds: s.completedKinds(), several: true}
	one, explained := everything, everything
	one.several, explained.several = false, false
	for _, c := range status.Codes() {
		explained.words = append(explained.words, c.ID)
	}
	imported := completes{several: true}
	for _, k := range (&importer.Importer{Kinds: s.Kinds()}).ImportableKinds() {
		imported.words = append(imported.words, strings.ToLower(k)+"/")
	}
	for path, c := range map[string]completes{
		"plan": everything, "diff": everything, "status": everything, "reconcile": everything, "suspend": everything, "approve": everything,
		"resume": everything,
		"undo":   capability, "delete-now": capability, "tree": one, "explain": explained, "monitor": capability, "verify-capability": capability,
		"rollout": capability, "iam policy app": capability,
		"secrets set": {kinds: []string{"awssecret"}}, "import": imported, "build app": {words: []string{imagebuild.ComponentBackend,
			imagebuild.ComponentFrontend}},
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil {
			cmd.ValidArgsFunction = s.completion(c)
		}
	}
	_ = root.RegisterFlagCompletionFunc("namespace", s.completeNamespaces)
	_ = root.RegisterFlagCompletionFunc("context", s.completeContexts)
}

// completedKinds are the words for kinds with objects that verbs take.
func (s *completer) completedKinds() []string {
	out := []string{"ncap", "awsprovider", "securityintent", "securityintentbinding"}
	for _, e := range s.Kinds() {
		out = append(out, strings.ToLower(e.Name()))
	}
	return out
}

// completion completes words, kinds, and once there is a slash the names of objects in the namespace of the command line.
func (s *completer) completion(c completes) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !c.several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		kind, _, named := strings.Cut(begun, "/")
		if len(c.kinds) == 1 { // there is nothing to choose
			kind, named = c.kinds[0], true
		}
		if named && len(c.kinds) > 0 {
			return beginningWith(begun, s.namesOf(cmd.Context(), kind), args), cobra.ShellCompDirectiveNoFileComp
		}
		words := slices.Clone(c.words)
		for _, k := range c.kinds {
			words = append(words, k+"/")
		}
		return beginningWith(begun, words, args), cobra.ShellCompDirectiveNoFileComp | noSpaceAfter(words)
	}
}

// noSpaceAfter keeps the shell from ending an argument that is not complete.
func noSpaceAfter(words []string) cobra.ShellCompDirective {
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "/") }) {
		return cobra.ShellCompDirectiveNoSpace
	}
	return cobra.ShellCompDirectiveDefault
}

// beginningWith returns the words that begin so and are no argument yet.
func beginningWith(begun string, words, args []string) []cobra.Completion {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, begun) || slices.Contains(args, w) })
}

// namesOf lists the objects of a kind, given by a word for it, as WORD/NAME; nil where they cannot be listed.
func (s *completer) namesOf(ctx context.Context, word string) []string {
	gvk, ok := s.kindOfWord(word)
	namespace, err := s.NamespaceOf(false)
	if !ok || err != nil {
		return nil
	}
	var out []string
	for _, name := range s.listNames(ctx, gvk, client.InNamespace(namespace)) {
		out = append(out, word+"/"+name)
	}
	return out
}

// kindOfWord finds the kind of one of the operator's own words without a question to the API server, and that of another word by one.
func (s *completer) kindOfWord(word string) (schema.GroupVersionKind, bool) {
	if slices.Contains(connection.CapabilityWords, word) {
		return objectrequest.CapabilityKind, true
	}
	for _, e := range s.Kinds() {
		if strings.EqualFold(e.Name(), word) {
			return v1alpha1.GroupVersion.WithKind(e.Name()), true
		}
	}
	mapper, err := s.Cluster.ToRESTMapper()
	if err != nil {
		return schema.GroupVersionKind{}, false
	}
	gvk, err := mapper.KindFor(schema.GroupVersionResource{Resource: word})
	return gvk, err == nil
}

// listNames lists the names of objects; nil where they cannot be listed in time.
func (s *completer) listNames(ctx context.Context, gvk schema.GroupVersionKind, in ...client.ListOption) []string {
	_, c, err := s.Connect()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk)
	if err := c.List(ctx, list, in...); err != nil {
		return nil
	}
	var out []string
	for _, o := range list.Items {
		out = append(out, o.Name)
	}
	slices.Sort(out)
	return out
}

// completeNamespaces completes the value of --namespace.
func (s *completer) completeNamespaces(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names := s.listNames(cmd.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	return beginningWith(begun, names, nil), cobra.ShellCompDirectiveNoFileComp
}

// completeContexts completes the value of --context, from the kubeconfig.
func (s *completer) completeContexts(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	if raw, err := s.Cluster.ToRawKubeConfigLoader().RawConfig(); err == nil || clientcmd.IsContextNotFound(err) {
		for name := range raw.Contexts {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return beginningWith(begun, names, nil), cobra.ShellCompDirectiveNoFileComp
}
