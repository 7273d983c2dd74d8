// SPDX-License-Identifier: Apache-2.0

package awsschema

// Paths are paths of properties.
type Paths []path

// PathsOf reads JSON pointers into properties, such as /Rules/*/Id.
func PathsOf(pointers []string) Paths {
	out := make(Paths, len(pointers))
	for i, pointer := range pointers {
		out[i] = pointerPath(pointer)
	}
	return out
}

// Contain reports whether one of the paths is, or contains, the property that a path leads to.
func (p Paths) Contain(at []string) bool { return anyContains(p, at) }

// IgnoreProblem says why a declaration cannot leave the property alone that a JSON pointer leads to; empty where it can. The text continues
// a sentence that begins with the field.
func (t *Type) IgnoreProblem(pointer string) string {
	at := pointerPath(pointer)
	switch {
	case !t.At(at...).Exists():
		return "is " + pointer + ", and " + t.Name + " has no property " + Text(at)
	case t.Identity.Contains(at...):
		return "is " + pointer + ", which identifies the resource and has to be known"
	case at[0] == t.Tags.Property():
		return "is " + pointer + ", which has the tags: the operator manages those in spec.tags, and leaves all others alone"
	case t.At(at...).isAssigned():
		return "is " + pointer + ", which AWS assigns and the operator never writes"
	default:
		return ""
	}
}
