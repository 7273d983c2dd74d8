// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// droppable are the parts of a walk's capability that an edit may drop.
var droppable = []string{"dynamodb/table/one", "dynamodb/table/two", "dynamodb/table/three", "s3/bucket/call-data", "s3/bucket/notes",
	"s3/bucket/logs",
	"glue", "secretsmanager/secret/extra", "sns/topic/news", "sns/topic/alarms", "sqs/queue/jobs", "sqs/queue/mails", "sqs/queue/jobs-dlq",
	"sqs/queue/mails-dlq",
	usersPart, keyPart, bedrockPart, associationPart, repositoryPart + "images", repositoryPart + "models", accessPart, guardrailPart,
	profilePart}

func setStores(s *nexusv1.NexusAICapabilitySpec, tables, buckets []string) {
	d := dataServices(s)
	existing := existingTableOf(s)
	d.DynamoDB, d.S3 = nil, nil
	setExistingTable(s, existing)
	for _, name := range tables {
		if d.DynamoDB == nil {
			d.DynamoDB = &nexusv1.DynamoDBSpec{}
		}
		d.DynamoDB.Tables = append(d.DynamoDB.Tables, nexusv1.TableSpec{Name: name})
	}
	for _, name := range buckets {
		if d.S3 == nil {
			d.S3 = &nexusv1.S3Spec{}
		}
		d.S3.Buckets = append(d.S3.Buckets, nexusv1.BucketSpec{Name: name})
	}
	if !slices.Contains(buckets, "call-data") {
		d.Glue = nil
	}
}

// some draws a part of a pool, in a random order; it may be nothing.
func (w *walk) some(pool ...string) []string {
	w.rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	return pool[:w.rnd.IntN(len(pool)+1)]
}

func (w *walk) one(pool ...string) string { return pool[w.rnd.IntN(len(pool))] }

// move is something that people may do next. It returns what it drew.
type move struct {
	name string
	do   func(w *walk) string
}

var moves = []move{
	{"other stores", (*walk).otherStores},
	{"other stores", (*walk).otherStores},
	{"another image", (*walk).anotherImage},
	{"the ingress switched", func(w *walk) string {
		on := w.rnd.IntN(2) == 0
		w.set(func(s *nexusv1.NexusAICapabilitySpec) { s.Ingress = &nexusv1.IngressSpec{Enabled: &on} })
		return fmt.Sprint(on)
	}},
	{"another host", (*walk).anotherHost},
	{"other fields of the pods", (*walk).otherFields},
	{"autoscaling switched", (*walk).switchAutoscaling},
	{"the catalog switched", (*walk).switchCatalog},
	{"secrets switched", (*walk).switchSecrets},
	{"topics switched", (*walk).switchTopics},
	{"sign-in switched", (*walk).switchSignIn},
	{"sign-in switched", (*walk).switchSignIn},
	{"queues switched", (*walk).switchQueues},
	{"the key switched on", (*walk).switchKey},
	{"Bedrock switched", (*walk).switchBedrock},
	{"another identity", (*walk).anotherIdentity},
	{"another deletion policy", (*walk).anotherPolicy},
	{"suspended or resumed", func(w *walk) string {
		on := w.rnd.IntN(2) == 0
		w.set(func(s *nexusv1.NexusAICapabilitySpec) { s.Suspend = on })
		return fmt.Sprint(on)
	}},
	{"other tags", (*walk).otherTags},
	{"an invalid edit", (*walk).invalidEdit},
	{"an invalid edit", (*walk).invalidEdit},
	{"the last edit taken back", (*walk).takeBack},
	{"an object deleted by hand", (*walk).deleteByHand},
	{"an object deleted by hand", (*walk).deleteByHand},
	{"a store dropped and named", (*walk).dropNamed},
	{"deleted and created again", (*walk).deleteAndCreate},
	{"the second operator", func(w *walk) string { return w.other.turn(w.rnd) }},
	{"the second operator", func(w *walk) string { return w.other.turn(w.rnd) }},
	{"settled, and a store filled", (*walk).fill},
	{"settled, and a store filled", (*walk).fill},
}

func (w *walk) otherStores() string {
	tables, buckets := w.some("one", "two", "three"), w.some("call-data", "notes", "logs")
	w.set(func(s *nexusv1.NexusAICapabilitySpec) { setStores(s, tables, buckets) })
	return fmt.Sprint(tables, buckets)
}

// anotherHost gives the ingress a host in the zone, or takes it away.
func (w *walk) anotherHost() string {
	host, byName := w.one("", "shop", "app"), w.rnd.IntN(2) == 0
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		if s.Ingress = nil; host == "" {
			return
		}
		s.Ingress = &nexusv1.IngressSpec{Host: w.c.Name + "-" + host + ".example.org", HostedZoneID: w.zoneID}
		if byName {
			s.Ingress.HostedZoneID, s.Ingress.HostedZoneName = "", "example.org"
		}
	})
	return fmt.Sprint(host, ", zone by name ", byName)
}

// anotherImage edits what runs: the image and the number of replicas of a component, and the version.
func (w *walk) anotherImage() string {
	tag, replicas, front := w.one("1", "2", "3"), int32(w.rnd.IntN(3)), w.rnd.IntN(2) == 0
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		s.Version = tag
		if front && s.Frontend.Image != "" {
			s.Frontend.Image, s.Frontend.Replicas = "registry.example/frontend:"+tag, &replicas
		} else {
			s.Backend.Image, s.Backend.Replicas = "registry.example/backend:"+tag, &replicas
		}
	})
	return fmt.Sprint(tag, ", ", replicas, " replicas, frontend ", front)
}

// podFields are groups of fields of a component, each of which sets all of its group.
var podFields = map[string]func(*nexusv1.ComponentSpec){
	"environment": func(c *nexusv1.ComponentSpec) {
		c.Env = []nexusv1.EnvVar{{Name: "LOG_LEVEL", Value: "debug"},
			{Name: "POD", ValueFrom: &nexusv1.EnvVarSource{FieldRef: &nexusv1.PodFieldSelector{FieldPath: "metadata.name"}}}}
		c.EnvFrom = []nexusv1.EnvFromSource{{Prefix: "FLAG_", ConfigMapRef: &nexusv1.EnvSourceReference{Name: "flags", Optional: new(true)}}}
		c.ImagePullSecrets = []nexusv1.ImagePullSecret{{Name: "registry"}}
	},
	"placement": func(c *nexusv1.ComponentSpec) {
		c.Probes = &nexusv1.ProbesSpec{Liveness: &nexusv1.Probe{GRPC: &nexusv1.GRPCProbe{}},
			Readiness: &nexusv1.Probe{HTTPGet: &nexusv1.HTTPProbe{Path: "/ready"}}}
		c.TerminationGracePeriodSeconds = new(int64(1))
		c.Tolerations = []nexusv1.Toleration{{Key: "dedicated", Value: "ai", Effect: "NoSchedule"}}
		c.TopologySpreadConstraints = []nexusv1.TopologySpread{{TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway",
			MaxSkew: 3}}
	},
	"security": func(c *nexusv1.ComponentSpec) {
		c.SecurityContext = &nexusv1.SecurityContextSpec{RunAsUser: new(int64(10001)), ReadOnlyRootFilesystem: new(true)}
		c.ScratchVolumes = []nexusv1.ScratchVolume{{Name: "tmp", MountPath: "/tmp"}}
	},
	"service": func(c *nexusv1.ComponentSpec) {
		c.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeClusterIP,
			Annotations: map[string]nexusv1.AnnotationValue{"example.com/team": "a"}}
		c.PDB = &nexusv1.DisruptionBudgetSpec{MinAvailable: new(intstr.FromString("50%"))}
	},
}

// otherFields sets some groups of fields of the backend and removes the others.
func (w *walk) otherFields() string {
	names := w.some(slices.Sorted(maps.Keys(podFields))...)
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		was := s.Backend.ComponentSpec
		s.Backend.ComponentSpec = nexusv1.ComponentSpec{Image: was.Image, Replicas: was.Replicas, Autoscaling: was.Autoscaling,
			Access: was.Access}
		for _, name := range names {
			podFields[name](&s.Backend.ComponentSpec)
		}
	})
	return fmt.Sprint(names)
}

// switchAutoscaling has an autoscaler set one number of replicas, so that every history ends with the same.
func (w *walk) switchAutoscaling() string {
	on := w.rnd.IntN(2) == 0
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		if s.Backend.Autoscaling = nil; on {
			s.Backend.Autoscaling = &nexusv1.AutoscalingSpec{Min: new(int32(2)), Max: 2}
		}
	})
	return fmt.Sprint(on)
}

func (w *walk) switchCatalog() string {
	on, crawler := w.rnd.IntN(2) == 0, w.rnd.IntN(2) == 0
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		if on && slices.Contains(bucketsOf(s), "call-data") {
			s.DataServices.Glue = &nexusv1.GlueSpec{Crawler: &nexusv1.CrawlerSpec{Enabled: &crawler}}
		} else if s.DataServices != nil {
			s.DataServices.Glue = nil
		}
	})
	return fmt.Sprint(on, ", crawler ", crawler)
}

func (w *walk) switchSecrets() string {
	on := w.rnd.IntN(2) == 0
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		if s.Secrets = nil; on {
			s.Secrets = []nexusv1.SecretSpec{{Name: "extra", Generate: &nexusv1.GenerateSpec{Keys: []nexusv1.SecretKey{"key"}}}}
		}
	})
	return fmt.Sprint(on)
}

func (w *walk) switchTopics() string {
	names := w.some("news", "alarms")
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		dataServices(s).Topics = nil
		for _, name := range slices.Sorted(slices.Values(names)) {
			s.DataServices.Topics = append(s.DataServices.Topics, nexusv1.TopicSpec{Name: name})
		}
	})
	return fmt.Sprint(names)
}

// dataServices returns the services of a spec, which may have had none.
func dataServices(s *nexusv1.NexusAICapabilitySpec) *nexusv1.DataServicesSpec {
	if s.DataServices == nil {
		s.DataServices = &nexusv1.DataServicesSpec{}
	}
	return s.DataServices
}

func (w *walk) switchQueues() string {
	names, dead := w.some("jobs", "mails"), w.rnd.IntN(2) == 0
	w.set(func(s *nexusv1.NexusAICapabilitySpec) { setQueues(s, names, dead) })
	return fmt.Sprint(names, ", dead letters ", dead)
}

func setQueues(s *nexusv1.NexusAICapabilitySpec, names []string, dead bool) {
	d := dataServices(s)
	d.Queues = nil
	for _, name := range slices.Sorted(slices.Values(names)) {
		q := nexusv1.QueueSpec{Name: name, VisibilityTimeoutSeconds: new(int32(len(names)))}
		if dead {
			q.DeadLetter = &nexusv1.DeadLetterSpec{}
		}
		d.Queues = append(d.Queues, q)
	}
}

// switchKey has the stores encrypted with a key of the capability, which holds data from then on: only a person who names it
// gives it up.
func (w *walk) switchKey() string {
	rotation := w.rnd.IntN(2) == 0
	w.set(func(s *nexusv1.NexusAICapabilitySpec) { dataServices(s).KMS = &nexusv1.KMSSpec{Rotation: &rotation} })
	w.keyed = true
	return fmt.Sprint("rotation ", rotation)
}

func (w *walk) switchBedrock() string {
	names := w.some("chat", "embed")
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		if dataServices(s).Bedrock = nil; len(names) == 0 {
			return
		}
		s.DataServices.Bedrock = &nexusv1.BedrockSpec{Region: "us-east-1"}
		if s.AI != nil { // its parts are in the region of the capability
			s.DataServices.Bedrock.Region = ""
		}
		for _, name := range slices.Sorted(slices.Values(names)) {
			s.DataServices.Bedrock.Models = append(s.DataServices.Bedrock.Models, nexusv1.BedrockModel{Name: name, ModelID: "amazon.nova-lite-v1:0"})
		}
	})
	return fmt.Sprint(names)
}

// anotherIdentity changes how pods get credentials. The mode Auto is left out: what it chose before stays.
func (w *walk) anotherIdentity() string {
	mode := nexusv1.IdentityMode(w.one("", string(nexusv1.IdentityIRSA), string(nexusv1.IdentityPodIdentity)))
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		if s.Identity = nil; mode != "" {
			s.Identity = &nexusv1.IdentitySpec{Mode: mode}
		}
	})
	return string(mode)
}

func (w *walk) switchSignIn() string {
	on, port := w.rnd.IntN(3) > 0, 3000+w.rnd.IntN(2)
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		if setSignIn(s, on); on {
			s.Cognito.CallbackURLs = []nexusv1.SignInURL{nexusv1.SignInURL(fmt.Sprintf("http://localhost:%d/callback", port))}
		}
	})
	return fmt.Sprint(on, ", port ", port)
}

// setSignIn has a user pool or none. A pool that is there keeps its callback.
func setSignIn(s *nexusv1.NexusAICapabilitySpec, on bool) {
	if s.EnableCognito = on; !on {
		s.Cognito = nil
	} else if s.Cognito == nil {
		s.Cognito = &nexusv1.CognitoSpec{CallbackURLs: []nexusv1.SignInURL{"http://localhost:3000/callback"}}
	}
}

func (w *walk) anotherPolicy() string {
	p := nexusv1.DeletionPolicy(w.one("", "Delete", "Retain"))
	w.set(func(s *nexusv1.NexusAICapabilitySpec) { s.DeletionPolicy = p })
	return string(p)
}

func (w *walk) otherTags() string {
	if w.c.Spec.ProviderRef == nil {
		return "no provider to edit"
	}
	team := w.one("a", "b", "")
	w.stamp = fmt.Sprint("tags ", len(w.log))
	p := &v1alpha1.AWSProvider{ObjectMeta: named(w.c.Namespace, "aws")}
	w.Edit(p, func() {
		if p.Spec.DefaultTags = nil; team != "" {
			p.Spec.DefaultTags = map[string]v1alpha1.TagValue{"team": v1alpha1.TagValue(team)}
		}
	})
	return team
}

// invalid are edits that are never valid, each with a word of the message that refuses it.
var invalid = []struct {
	name, word string
	change     func(s *nexusv1.NexusAICapabilitySpec)
}{
	{"image", "image", func(s *nexusv1.NexusAICapabilitySpec) { s.Backend.Image = "registry.example/NO:1" }},
	{"region", "region", func(s *nexusv1.NexusAICapabilitySpec) { s.Region = "eu-west-1" }},
	{"environment", "environment", func(s *nexusv1.NexusAICapabilitySpec) { s.Environment = "test" }},
	{"catalog without its bucket", "glue", func(s *nexusv1.NexusAICapabilitySpec) {
		setStores(s, nil, nil)
		s.DataServices.Glue = &nexusv1.GlueSpec{}
	}},
	{"key of another region", "kmsKeyArn", func(s *nexusv1.NexusAICapabilitySpec) {
		setStores(s, []string{"one"}, nil)
		s.DataServices.DynamoDB.KMSKeyArn = "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000"
	}},
	{"lifecycle", "days", func(s *nexusv1.NexusAICapabilitySpec) {
		setStores(s, nil, []string{"notes"})
		s.DataServices.S3.Lifecycle = []nexusv1.LifecycleRule{{ID: "early",
			Transitions: []nexusv1.LifecycleTransition{{Days: 3, StorageClass: "STANDARD_IA"}}}}
	}},
	{"schedule", "schedule", func(s *nexusv1.NexusAICapabilitySpec) {
		setStores(s, nil, []string{"call-data"})
		s.DataServices.Glue = &nexusv1.GlueSpec{Crawler: &nexusv1.CrawlerSpec{Schedule: "cron(every day)"}}
	}},
	{"group of load balancers", "group", func(s *nexusv1.NexusAICapabilitySpec) {
		s.Ingress = &nexusv1.IngressSpec{Annotations: map[string]nexusv1.AnnotationValue{"alb.ingress.kubernetes.io/group.name": "theirs"}}
	}},
	{"root", "runAsUser", func(s *nexusv1.NexusAICapabilitySpec) {
		s.Backend.SecurityContext = &nexusv1.SecurityContextSpec{RunAsUser: new(int64(0))}
	}},
	{"name of the operator's", "NEXUS_", func(s *nexusv1.NexusAICapabilitySpec) {
		s.Backend.Env = []nexusv1.EnvVar{{Name: "NEXUS_REGION", Value: "mars"}}
	}},
	{"image that cannot be pulled", "pull", func(s *nexusv1.NexusAICapabilitySpec) {
		s.Backend.Image, s.Backend.Replicas, s.Suspend = "registry.example/backend:ImagePullBackOff", new(int32(2)), false
	}},
}

// invalidEdit makes an edit that is refused at admission or shown by a condition, with the field.
func (w *walk) invalidEdit() string {
	x := invalid[w.rnd.IntN(len(invalid))]
	err := w.try(x.change)
	if apierrors.IsInvalid(err) {
		if !strings.Contains(err.Error(), x.word) {
			w.Errorf("the refusal of an invalid %s does not say %q: %v", x.name, x.word, err)
		}
		return x.name + ", refused"
	}
	must(w.bed, 0, err)
	w.sound = false
	if w.c.Spec.Suspend || w.rnd.IntN(2) == 0 { // the next move does not always wait
		return x.name + ", accepted"
	}
	w.Eventually(40*time.Second, "the invalid "+x.name+" to be told", func() error {
		c, err := w.Condition(w.c, "Stalled")
		if err != nil {
			return err
		}
		if c.Status != metav1.ConditionTrue || c.ObservedGeneration != w.c.Generation {
			return fmt.Errorf("%s=%s/%s at generation %d of %d: %s", c.Type, c.Status, c.Reason, c.ObservedGeneration, w.c.Generation, c.Message)
		}
		return nil
	})
	return x.name + ", told"
}

func (w *walk) takeBack() string {
	before, sound := w.before.DeepCopy(), w.wasSound
	must(w.bed, 0, w.try(func(s *nexusv1.NexusAICapabilitySpec) { *s = *before.DeepCopy() }))
	if w.sound = sound; sound {
		w.valid = w.c.Spec.DeepCopy()
	}
	return map[bool]string{true: "to a valid one", false: "to an invalid one"}[sound]
}

// deleteByHand deletes one of the generated objects.
func (w *walk) deleteByHand() string {
	all := w.generated()
	if len(all) == 0 {
		return "nothing"
	}
	slices.SortFunc(all, func(a, b client.Object) int {
		return strings.Compare(fmt.Sprintf("%T/%s", a, a.GetName()), fmt.Sprintf("%T/%s", b, b.GetName()))
	})
	o := all[w.rnd.IntN(len(all))]
	w.model.deletedByHand(w.partOfObject(o), &w.c.Spec)
	if err := w.bed.Client.Delete(w.Ctx(), o); client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	return fmt.Sprintf("%T %s", o, o.GetName())
}

func (w *walk) partOfObject(o client.Object) string {
	kind := map[bool]string{true: "glue/object"}[strings.Contains(fmt.Sprintf("%T", o), ".Glue")]
	switch o.(type) {
	case *v1alpha1.DynamoDBTable:
		kind = "dynamodb/table"
	case *v1alpha1.S3Bucket:
		kind = "s3/bucket"
	case *v1alpha1.SecretsManagerSecret:
		kind = "secretsmanager/secret"
	case *v1alpha1.SNSTopic:
		kind = "sns/topic"
	case *v1alpha1.CognitoUserPool:
		kind = "cognito-idp/pool"
	case *v1alpha1.SQSQueue:
		kind = "sqs/queue"
	case *v1alpha1.KMSKey:
		kind = "kms/key"
	case *v1alpha1.PodIdentityAssociation:
		kind = "eks/pod-identity-association"
	case *v1alpha1.ECRRepository:
		kind = "ecr/repository"
	case *v1alpha1.AWSResource:
		kind = aiResource
	}
	return w.model.partOf(kind, o.GetName())
}

// dropNamed drops a store that holds data and allows its loss, which must cost no other store.
func (w *walk) dropNamed() string {
	var parts []string
	for part := range w.model.full {
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "no store holds data"
	}
	slices.Sort(parts)
	part := w.one(parts...)
	w.model.named(part)
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		switch {
		case part == usersPart:
			setSignIn(s, false)
		case part == keyPart:
			w.keyed, s.DataServices.KMS = false, nil
		case strings.HasPrefix(part, "sqs/"):
			s.DataServices.Queues = slices.DeleteFunc(s.DataServices.Queues, func(q nexusv1.QueueSpec) bool { return "sqs/queue/"+q.Name == part })
		}
		is := func(kind string) func(string) bool { return func(name string) bool { return kind+name == part } }
		setStores(s, slices.DeleteFunc(tablesOf(s), is("dynamodb/table/")), slices.DeleteFunc(bucketsOf(s), is("s3/bucket/")))
		named := w.store(part)
		if before := w.c.Annotations["nexus.ai/delete-data"]; before != "" { // an edit before this one may not be processed yet
			named = before + "," + named
		}
		w.c.Annotations = map[string]string{"nexus.ai/delete-data": named}
	})
	return part
}

// deleteAndCreate deletes the capability in the middle of whatever is under way and creates it again with the last valid
// spec, sometimes twice in a row.
func (w *walk) deleteAndCreate() string {
	policy := w.c.Spec.DeletionPolicy
	w.delete()
	w.again(w.valid)
	if w.rnd.IntN(3) > 0 {
		return string(policy)
	}
	time.Sleep(time.Duration(w.rnd.IntN(1500)) * time.Millisecond) // in the middle of the creation
	w.delete()
	w.again(w.valid)
	return string(policy) + ", twice"
}

func jsonOf(w *walk, o any) string {
	text, err := json.Marshal(o)
	return string(must(w.bed, text, err))
}
