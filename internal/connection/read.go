// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// NamespaceOf is the namespace that the command line or the kubeconfig names; "" is every one.
func (s *Connection) NamespaceOf(everywhere bool) (string, error) {
	if everywhere {
		return "", nil
	}
	namespace, _, err := s.Cluster.ToRawKubeConfigLoader().Namespace()
	return namespace, err
}

// StandardInput stands for the standard input where a file is named.
const StandardInput = "-"

// LookFailure says of a read of objects that are named on the command line how they are named.
func LookFailure(err error, namespace string) error {
	var s apierrors.APIStatus
	switch {
	case errors.As(err, &s) && apierrors.IsNotFound(err) && s.Status().Details != nil && s.Status().Details.Kind != "namespaces":
		return fmt.Errorf("%w in namespace %s; -n names another", err, namespace)
	case strings.Contains(err.Error(), "doesn't have a resource type"):
		_, word, _ := strings.Cut(err.Error(), "resource type ")
		return exit.Usage("%w: objects are named KIND/NAME, such as ncap/%s", err, strings.Trim(word, `"`))
	default:
		return ReadFailure(err)
	}
}

// ReadFailure classifies a failed read as a mistake of the user or a missing precondition.
func ReadFailure(err error) error {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return exit.Precondition(err)
	case apierrors.IsNotFound(err):
		return err
	case meta.IsNoMatchError(err):
		return exit.Precondition(fmt.Errorf("%w: install the operator's CustomResourceDefinitions first", err))
	case strings.Contains(err.Error(), "recognized file extensions are"):
		return exit.Usage("%w; for the folders below it, add --recursive (-R)", err)
	case os.IsNotExist(err), slices.ContainsFunc(inputMistakes, func(text string) bool { return strings.Contains(err.Error(), text) }):
		return exit.Usage("%w", err)
	default:
		return err
	}
}

// inputMistakes are texts of cli-runtime's errors about its input, which have no types.
var inputMistakes = []string{"error parsing", "does not exist", "unable to decode", "doesn't have a resource type",
	"does not match the namespace", "no objects passed"}

// Manifests reads files without a cluster, and adds the defaults of our kinds.
func (s *Connection) Manifests(files *resource.FilenameOptions) ([]*unstructured.Unstructured, *crdschema.Schemas, error) {
	return s.ManifestsOf(files, resource.NewLocalBuilder().Unstructured().Local().FilenameParam(false, files))
}

// ManifestsOf reads manifests with a builder. With one that continues after an error, it returns both objects and an error.
func (s *Connection) ManifestsOf(files *resource.FilenameOptions, from *resource.Builder) ([]*unstructured.Unstructured,
	*crdschema.Schemas, error) {
	if len(files.Filenames) == 0 && files.Kustomize == "" {
		return nil, nil, exit.Usage("say what to read: -f FILE or -k DIR")
	}
	schemas, err := crdschema.Load(s.CRDs)
	if err != nil {
		return nil, nil, err
	}
	objects, unread := s.Objects(from.Flatten())
	return s.InNamespace(schemas, objects), schemas, unread
}

// InNamespace gives objects that name no namespace the one of the command line, or the default one.
func (s *Connection) InNamespace(schemas *crdschema.Schemas, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	namespace := "default"
	if s.EnforcesNamespace() {
		namespace = *s.Cluster.Namespace
	}
	for _, u := range objects {
		if u.GetNamespace() == "" && schemas.Namespaced(u.GetKind()) {
			u.SetNamespace(namespace)
		}
	}
	return objects
}

// CapabilityOf reads a capability as the API server would, with its defaults.
func CapabilityOf(schemas *crdschema.Schemas, u *unstructured.Unstructured) (*nexusv1.NexusAICapability, error) {
	if err := schemas.Default(u); err != nil {
		return nil, err
	}
	c := &nexusv1.NexusAICapability{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, c, true); err != nil {
		return nil, fmt.Errorf("%s: %w", console.TitleOf(u), err)
	}
	return c, nil
}

// OfflineOptions returns the options of an operator that was started with this command's environment and --operator-arg flags.
func (s *Connection) OfflineOptions() (options.Options, error) {
	o, err := options.Parse(s.OperatorArgs, s.Getenv)
	if err != nil {
		return o, exit.Usage("the operator's flags: %w", err)
	}
	o.AWS.Region = cmp.Or(s.Region, o.AWS.Region)
	return o, nil
}

// IsCapability reports whether an object is a capability, of any version.
func IsCapability(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	return gvk.Group == nexusv1.GroupVersion.Group && gvk.Kind == "NexusAICapability"
}

// Builder reads objects as kubectl does.
func (s *Connection) Builder() *resource.Builder {
	namespace, _, err := s.Cluster.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		namespace = "default"
	}
	return resource.NewBuilder(s.Cluster).Unstructured().NamespaceParam(namespace).DefaultNamespace()
}

// FromFiles has a builder read manifests. It reads standard input from the program's own, which the library does not know.
func (s *Connection) FromFiles(b *resource.Builder, files *resource.FilenameOptions) *resource.Builder {
	if !slices.Equal(files.Filenames, []string{StandardInput}) {
		return b.FilenameParam(s.EnforcesNamespace(), files)
	}
	if s.EnforcesNamespace() {
		b = b.RequireNamespace()
	}
	return b.Stream(s.In, "standard input")
}

// EnforcesNamespace reports whether -n was given: then manifests of other namespaces are refused.
func (s *Connection) EnforcesNamespace() bool {
	return s.Cluster.Namespace != nil && *s.Cluster.Namespace != ""
}

// Objects reads objects with a builder. With one that continues after an error, it returns both objects and an error.
func (s *Connection) Objects(b *resource.Builder) ([]*unstructured.Unstructured, error) {
	infos, err := b.Do().Infos()
	if err != nil {
		namespace, _, _ := s.Cluster.ToRawKubeConfigLoader().Namespace()
		err = LookFailure(err, cmp.Or(namespace, "default"))
	}
	var out []*unstructured.Unstructured
	for _, i := range infos {
		u, ok := i.Object.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("%s is read as %T", i.ObjectName(), i.Object)
		}
		out = append(out, u)
	}
	return out, err
}

// Reader connects to the cluster and prepares to read with the caller's rights.
func (s *Connection) Reader() (*inspect.Reader, error) {
	_, c, err := s.Connect()
	if err != nil {
		return nil, err
	}
	return s.ReaderOf(c), nil
}

// ObjectReader returns a reader, and the one object that arguments name.
func (s *Connection) ObjectReader(args []string) (*inspect.Reader, *unstructured.Unstructured, error) {
	r, err := s.Reader()
	if err != nil {
		return nil, nil, err
	}
	object, err := s.OneObject(args)
	return r, object, err
}

// ReaderOf returns a reader through a client.
func (s *Connection) ReaderOf(c client.Client) *inspect.Reader {
	return &inspect.Reader{Client: c, Kinds: s.Kinds(), Engines: s.Engines(), Clock: s.Clock, AutoMode: s.AutoModeOf("")}
}

// NamedObjects reads objects of the operator's kinds by their names, as kubectl does.
func (s *Connection) NamedObjects(args []string) ([]*unstructured.Unstructured, error) {
	objects, err := s.Objects(s.Builder().ResourceTypeOrNameArgs(true, args...).Latest().Flatten())
	if err != nil {
		return nil, err
	}
	for _, u := range objects {
		if !inspect.IsOurs(u.GroupVersionKind()) {
			return nil, exit.Usage("%s is not of a kind of Nexus Operator", console.TitleOf(u))
		}
	}
	return objects, nil
}

// OneObject reads the one object that the arguments name.
func (s *Connection) OneObject(args []string) (*unstructured.Unstructured, error) {
	objects, err := s.NamedObjects(args)
	if err == nil && len(objects) != 1 {
		err = exit.Usage("name one object, as KIND/NAME")
	}
	if err != nil {
		return nil, err
	}
	return objects[0], nil
}
