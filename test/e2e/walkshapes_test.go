// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// shapeMoves change which components a capability has, what their pods may use, and its other resources.
var shapeMoves = []move{
	{"other components", (*walk).otherComponents},
	{"other components", (*walk).otherComponents},
	{"other access", (*walk).otherAccess},
	{"other access", (*walk).otherAccess},
	{"the frontend moved", (*walk).moveFrontend},
	{"other resources", (*walk).otherResources},
}

// componentsToDraw are components beside frontend and backend.
func componentsToDraw(tag string) map[string]nexusv1.NamedComponentSpec {
	pods := func(name string) nexusv1.ComponentSpec {
		return nexusv1.ComponentSpec{Image: "registry.example/" + name + ":" + tag}
	}
	chat := pods("chat")
	chat.Routes = &[]nexusv1.Route{{Path: "/chat"}}
	return map[string]nexusv1.NamedComponentSpec{
		"chat":    {Name: "chat", Type: nexusv1.ComponentService, ComponentSpec: chat},
		"worker":  {Name: "worker", Type: nexusv1.ComponentWorker, ComponentSpec: pods("worker")},
		"prepare": {Name: "prepare", Type: nexusv1.ComponentJob, ComponentSpec: pods("prepare")},
		"nightly": {Name: "nightly", Type: nexusv1.ComponentCronJob, Schedule: "0 3 29 2 *", ComponentSpec: pods("nightly")}, // not during a walk
	}
}

// otherComponents declares some components beside frontend and backend, with what each may use as before.
func (w *walk) otherComponents() string {
	names, all := w.some("chat", "worker", "prepare", "nightly"), componentsToDraw(w.one("1", "2"))
	slices.Sort(names)
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		s.Components = slices.DeleteFunc(s.Components, func(c nexusv1.NamedComponentSpec) bool { return c.Name != movedFrontend })
		for _, name := range names {
			s.Components = append(s.Components, all[name])
		}
	})
	return fmt.Sprint(names)
}

// movedFrontend is the name of the frontend among the components.
const movedFrontend = "web"

// moveFrontend declares the frontend as a component, or as the frontend again. Either serves the path /.
func (w *walk) moveFrontend() string {
	moved := w.rnd.IntN(2) == 0
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		i := slices.IndexFunc(s.Components, func(c nexusv1.NamedComponentSpec) bool { return c.Name == movedFrontend })
		switch {
		case moved && i < 0:
			web := nexusv1.NamedComponentSpec{Name: movedFrontend, ComponentSpec: s.Frontend.ComponentSpec}
			web.Routes = &[]nexusv1.Route{{Path: "/"}}
			s.Frontend, s.Components = nexusv1.FrontendSpec{}, append(s.Components, web)
		case !moved && i >= 0:
			s.Frontend.ComponentSpec = s.Components[i].ComponentSpec
			s.Frontend.Routes, s.Components = nil, slices.Delete(s.Components, i, i+1)
		}
	})
	return fmt.Sprint(moved)
}

// accessNames maps the parts that pods may have access to, of those that are declared, to their names.
func accessNames(s *nexusv1.NexusAICapabilitySpec) []nexusv1.AccessName {
	var out []nexusv1.AccessName
	for part := range partsOf(s) {
		name := part[strings.LastIndex(part, "/")+1:]
		for prefix, field := range map[string]string{"dynamodb/table/": "dynamodb/", "s3/bucket/": "s3/", "sqs/queue/": "queues/",
			"sns/topic/":             "topics/",
			"secretsmanager/secret/": "secrets/", repositoryPart: "resources/"} {
			if strings.HasPrefix(part, prefix) && !strings.HasSuffix(part, deadLetters) {
				out = append(out, nexusv1.AccessName(field+name))
			}
		}
	}
	if s.DataServices != nil && s.DataServices.Glue != nil {
		out = append(out, "glue")
	}
	if existingTableOf(s) != "" {
		out = append(out, "dynamodb/"+existingPart)
	}
	for part := range partsOf(s) {
		if part == guardrailPart || part == profilePart || part == vectorPart {
			out = append(out, nexusv1.AccessName(strings.TrimPrefix(part, "ai/")))
		}
	}
	slices.Sort(out)
	return out
}

// accesses returns those of all components.
func accesses(s *nexusv1.NexusAICapabilitySpec) []**[]nexusv1.AccessName {
	out := []**[]nexusv1.AccessName{&s.Backend.Access}
	if s.Frontend.Image != "" {
		out = append(out, &s.Frontend.Access)
	}
	for i := range s.Components {
		out = append(out, &s.Components[i].Access)
	}
	return out
}

// otherAccess draws what the pods of each component may use: everything, nothing, or some of what is declared.
func (w *walk) otherAccess() string {
	names, draws := accessNames(w.valid), map[int]*[]nexusv1.AccessName{}
	for i := range 2 + len(componentsToDraw("")) + 1 {
		switch w.rnd.IntN(3) {
		case 0:
			draws[i] = nil
		default:
			w.rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			some := slices.Clone(names[:w.rnd.IntN(min(4, len(names)+1))])
			draws[i] = &some
		}
	}
	drawn := ""
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		drawn = ""
		for i, access := range accesses(s) {
			if *access = nil; draws[i] != nil {
				list := slices.Clone(*draws[i])
				*access = &list
				drawn += fmt.Sprint(list)
			}
		}
	})
	return drawn
}

// dropUnknownAccess takes from each access the names of what an edit dropped: to name it is invalid.
func dropUnknownAccess(s *nexusv1.NexusAICapabilitySpec) {
	known := accessNames(s)
	for _, access := range accesses(s) {
		if *access != nil {
			list := slices.DeleteFunc(slices.Clone(**access), func(n nexusv1.AccessName) bool { return !slices.Contains(known, n) })
			*access = &list
		}
	}
}

const (
	// repositoryPart begins the parts that are other resources: image repositories.
	repositoryPart = "ecr/repository/"
	// accessPart names the things of an access that some components have: a role, its ServiceAccount, its association and its settings. Which
	// there are follows from edits, and what Retain kept of a former one stays.
	accessPart = "access"
)

// partOfShape names the part to which something belongs that the moves of this file and of applicationMoves made; "" for everything else.
func partOfShape(kind, rest string) string {
	if part := partOfAI(kind, rest); part != "" {
		return part
	}
	switch exported, is := strings.CutPrefix(rest, "resources-"); {
	case strings.HasPrefix(rest, accessPart+"-"):
		return accessPart
	case kind == "ssm/parameter" && is:
		return repositoryPart + strings.ToLower(exported)
	case kind == "ecr/repository":
		return repositoryPart + rest
	default:
		return ""
	}
}

// otherResources declares image repositories. They need a provider.
func (w *walk) otherResources() string {
	if w.c.Spec.ProviderRef == nil {
		return "no provider"
	}
	names, mutable := w.some("images", "models"), w.one("MUTABLE", "IMMUTABLE")
	slices.Sort(names)
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		dataServices(s).Resources = nil
		for _, name := range names {
			s.DataServices.Resources = append(s.DataServices.Resources, nexusv1.ResourcePart{Name: name, Kind: "ECRRepository",
				Spec:    &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"repositoryName":"{name}","imageTagMutability":%q}`, mutable)},
				Access:  &nexusv1.PartAccess{Actions: []nexusv1.PartAction{"ecr:DescribeImages"}},
				Exports: map[string]nexusv1.ExportedValue{strings.ToUpper(name): "arn"}})
		}
	})
	return fmt.Sprint(names, mutable)
}
