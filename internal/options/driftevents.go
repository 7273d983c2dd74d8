// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

func addDriftEventFlags(fs *pflag.FlagSet, o *Options) {
	fs.StringVar(&o.AWS.DriftEventsQueue, "drift-events-queue", "",
		"URL of the SQS queue with CloudTrail's events of changes, see docs/drift-events.md; with --shard, it contains {shard}, because each shard needs a separate queue; default: none")
	fs.DurationVar(&o.Pacing.CheckEveryWithEvents, "check-interval-with-events", time.Hour,
		"how often each AWS resource is checked for drift while the events of its account and region arrive; --kind-check-interval still decides for its kinds")
}

// shardPlaceholder stands for the number of the shard in --drift-events-queue.
const shardPlaceholder = "{shard}"

// queueURL matches the URLs of SQS queues, with those of emulators and VPC endpoints.
var queueURL = regexp.MustCompile(`^https?://[A-Za-z0-9.:-]+/[0-9]{12}/[A-Za-z0-9_-]{1,80}$`)

// DriftQueue returns the URL of the queue that this process reads; empty for none.
func (o Options) DriftQueue() string {
	return strings.ReplaceAll(o.AWS.DriftEventsQueue, shardPlaceholder, strconv.Itoa(o.Shard.Index))
}

func (o *Options) validateDriftEvents() error {
	if o.Pacing.CheckEveryWithEvents < minInterval {
		return fmt.Errorf("--check-interval-with-events: must be at least %s", minInterval)
	}
	switch {
	case o.AWS.DriftEventsQueue == "":
		return nil
	case !queueURL.MatchString(o.DriftQueue()):
		return fmt.Errorf("--drift-events-queue: %q is not the URL of an SQS queue, such as https://sqs.eu-west-1.amazonaws.com/123456789012/nexus-drift-events",
			o.AWS.DriftEventsQueue)
	case o.Shard.Shards() > 1 && !strings.Contains(o.AWS.DriftEventsQueue, shardPlaceholder):
		return fmt.Errorf("--drift-events-queue: with --shard, each shard needs a separate queue, because a message reaches one reader only: put %s in the place of the shard's number, and make %d queues",
			shardPlaceholder, o.Shard.Shards())
	}
	return nil
}
