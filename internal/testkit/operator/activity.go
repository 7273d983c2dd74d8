// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Activity is the work of the controllers of a process since its start, by the name of the controller. Requests that wait for their
// time, such as the next periodic check or a retry, are not in it yet.
type Activity struct {
	// Queued counts the requests that a work queue has handed out or is ready to hand out.
	Queued map[string]int
	// Reconciled counts the requests with a finished reconciliation.
	Reconciled map[string]int
}

// The metrics of controller-runtime that Activity is read from.
const (
	queuedMetric     = "workqueue_adds_total"
	reconciledMetric = "controller_runtime_reconcile_total"
)

// ActivityOf reads the activity from controller-runtime's metrics.
func ActivityOf(families []*dto.MetricFamily) Activity {
	a := Activity{Queued: map[string]int{}, Reconciled: map[string]int{}}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetName() {
			case queuedMetric:
				a.Queued[label(m, "controller")] += int(m.GetCounter().GetValue())
			case reconciledMetric:
				a.Reconciled[label(m, "controller")] += int(m.GetCounter().GetValue())
			}
		}
	}
	maps.DeleteFunc(a.Queued, func(name string, _ int) bool { _, ok := a.Reconciled[name]; return !ok }) // queues of libraries
	return a
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.Label {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// Since returns the difference from an earlier activity.
func (a Activity) Since(earlier Activity) Activity {
	return Activity{Queued: minus(a.Queued, earlier.Queued), Reconciled: minus(a.Reconciled, earlier.Reconciled)}
}

func minus(a, b map[string]int) map[string]int {
	out := map[string]int{}
	for name, n := range a {
		out[name] = n - b[name]
	}
	return out
}

// Busy returns the controllers that have requests still to reconcile; "" when there are none.
func (a Activity) Busy() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a.Queued)) {
		if a.Queued[name] != a.Reconciled[name] {
			out = append(out, fmt.Sprintf("%s has reconciled %d of %d", name, a.Reconciled[name], a.Queued[name]))
		}
	}
	return strings.Join(out, ", ")
}

// Activity asks the operator for its metrics.
func (o *Operator) Activity() (Activity, error) {
	if o.metrics == "" {
		return Activity{}, errors.New("the operator was started without metrics")
	}
	res, err := http.Get("http://" + o.metrics + "/metrics")
	if err != nil {
		return Activity{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(res.Body)
		return Activity{}, errors.Join(err, fmt.Errorf("%s: %s", res.Status, text))
	}
	text, err := activityLines(res.Body)
	if err != nil {
		return Activity{}, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return Activity{}, err
	}
	a := ActivityOf(slices.Collect(maps.Values(families)))
	if len(a.Reconciled) == 0 {
		return a, errors.New("no controller runs yet")
	}
	return a, nil
}

// activityLines keeps the lines of the metrics that ActivityOf reads, a small part: waits for a quiet operator read the metrics many
// times, and parsing all of them is most of the work.
func activityLines(metrics io.Reader) ([]byte, error) {
	var out bytes.Buffer
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		line := bytes.TrimPrefix(bytes.TrimPrefix(lines.Bytes(), []byte("# TYPE ")), []byte("# HELP "))
		if bytes.HasPrefix(line, []byte(queuedMetric)) || bytes.HasPrefix(line, []byte(reconciledMetric)) {
			out.Write(lines.Bytes())
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), lines.Err()
}

// metricsAddress returns a loopback address of this process alone: another network address for each process of tests, and another
// port for each operator, below the range that the kernel gives to others.
func metricsAddress(number int64) string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:%d", 1+pid>>16&0x3f, pid>>8&0xff, pid&0xff, 20000+number%10000)
}

// metricsOf returns the metrics address of an operator with these arguments, in plain text; "" when it serves none.
func metricsOf(args []string) string {
	address := ""
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "--metrics-bind-address="); ok {
			address = v
		}
	}
	if !strings.HasPrefix(address, "127.") {
		return ""
	}
	return address
}
