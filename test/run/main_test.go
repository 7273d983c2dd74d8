// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// tree writes a module with files, and works in it.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files = maps.Clone(files)
	files["go.mod"] = "module example.com/tree\n\ngo 1.26.0\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// runTree runs the tests of the module, and returns what is printed.
func runTree(t *testing.T) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), options{modules: []string{"."}, out: &out, records: "bin/times.json", slots: 2, timeout: time.Minute})
	return out.String(), err
}

const passing = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"sub\", func(*testing.T) {}) }\n"

func TestRun_PassesAndRecordsTimes(t *testing.T) {
	tree(t, map[string]string{"a/a_test.go": passing, "b/a/a_test.go": passing})
	out, err := runTree(t)
	if err != nil || !strings.Contains(out, "4 tests and subtests ran") || strings.Count(out, "ok  \t") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	r, err := readRecords("bin/times.json")
	if err != nil || len(r.Packages) != 2 || len(r.Tests) != 2 || r.Packages[0].CPU <= 0 || r.Total.Wall <= 0 {
		t.Errorf("%v, %+v", err, r)
	}
	var table bytes.Buffer
	if err := run(t.Context(), options{times: true, records: "bin/times.json", out: &table}); err != nil ||
		!strings.Contains(table.String(), "| b/a TestA") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

// Every way to fail is an error, and the end of the report names it with a command that repeats it.
func TestRun_ReportsEveryKindOfFailure(t *testing.T) {
	for name, row := range map[string]struct{ source, command, text string }{
		"a test": {"import \"testing\"\n\nfunc TestX(t *testing.T) { t.Run(\"sub\", func(t *testing.T) { t.Error(\"broken\") }) }\n",
			"-run '^TestX$' ./x", "broken"},
		"a panic":     {"import \"testing\"\n\nfunc TestX(t *testing.T) { panic(\"broken\") }\n", "-run '^TestX$' ./x", "broken"},
		"an exit":     {"import (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestX(t *testing.T) { println(\"broken\"); os.Exit(3) }\n", "./x", "broken"},
		"TestMain":    {"import (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { m.Run(); println(\"broken\"); os.Exit(1) }\n\nfunc TestX(*testing.T) {}\n", "./x", "broken"},
		"compilation": {"import \"testing\"\n\nfunc TestX(t *testing.T) { broken }\n", "./x", "undefined: broken"},
	} {
		t.Run(name, func(t *testing.T) {
			tree(t, map[string]string{"a/a_test.go": passing, "x/x_test.go": "package x\n\n" + row.source})
			out, err := runTree(t)
			if !errors.Is(err, errFailed) || !strings.Contains(out, row.text) {
				t.Errorf("%v\n%s", err, out)
			}
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, row.command) || !strings.Contains(last, "go test -count=1 ") {
				t.Errorf("the last line is %q", last)
			}
			if !strings.Contains(out, "ok  \ta\t") {
				t.Errorf("the other package did not run:\n%s", out)
			}
		})
	}
}

// A program that has not changed is not linked again, in another clone either, and one that does not compile does not run as it was before.
func TestRun_KeepsProgramsAndRunsNoOldOne(t *testing.T) {
	built := t.TempDir()
	runs := func(files map[string]string) (string, error) {
		tree(t, files)
		var out bytes.Buffer
		err := run(t.Context(), options{modules: []string{"."}, out: &out, records: "bin/times.json", slots: 2, timeout: time.Minute,
			built: built})
		return out.String(), err
	}
	program := func(name string) os.FileInfo { return must.Get(os.Stat(filepath.Join(built, name+".program")))(t) }
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -trimpath")
	files := map[string]string{"a/a_test.go": passing, "b/a/a_test.go": passing}
	if out, err := runs(files); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a, b := program("a"), program("b_a")
	files["b/a/a_test.go"] = strings.Replace(passing, "TestA", "TestB", 1)
	if out, err := runs(files); err != nil || !os.SameFile(program("a"), a) || os.SameFile(program("b_a"), b) {
		t.Errorf("%v, a is linked again: %v, b is: %v\n%s", err, !os.SameFile(program("a"), a), !os.SameFile(program("b_a"), b), out)
	}
	files["a/a_test.go"] = passing + "broken\n"
	if out, err := runs(files); !errors.Is(err, errFailed) || strings.Contains(out, "ok  \ta\t") || !strings.Contains(out, "ok  \tb/a\t") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestLockBuilt_BelongsToOneRunAndForgetsWhatNobodyUses(t *testing.T) {
	dir := t.TempDir()
	old, recent := filepath.Join(dir, "old.program"), filepath.Join(dir, "recent.program")
	for path, age := range map[string]time.Duration{old: 2 * keptFor, recent: 0} {
		if err := errors.Join(os.WriteFile(path, nil, 0o755), os.Chtimes(path, time.Time{}, time.Now().Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	got, lock, err := lockBuilt(dir)
	if got != dir || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	if got, _, err := lockBuilt(dir); got != "" || err != nil {
		t.Errorf("a second run has %q, %v", got, err)
	}
	if left := must.Get(filepath.Glob(filepath.Join(dir, "*.program")))(t); !slices.Equal(left, []string{recent}) {
		t.Errorf("left: %q", left)
	}
	if _, _, err := lockBuilt(recent); err == nil || !strings.Contains(err.Error(), "-built") {
		t.Errorf("a file as the folder: %v", err)
	}
}

func TestRun_CountsWhatIsLeftToTheFullRun(t *testing.T) {
	tree(t, map[string]string{"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Skip(\"" + extent.Left +
		"\") }\n"})
	out, err := runTree(t)
	if err != nil || !strings.Contains(out, "0 tests and subtests ran") || !strings.Contains(out, "; 1 are left to make test-all") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestStep_IsRecordedAndKeepsItsExitCode(t *testing.T) {
	o := options{step: "busy", records: filepath.Join(t.TempDir(), "times.json"), out: &bytes.Buffer{}}
	for range 2 {
		o.command = []string{"sh", "-c", "exit 7"}
		if err := run(t.Context(), o); exitCode(err) != 7 {
			t.Errorf("exit code %d of %v", exitCode(err), err)
		}
	}
	if r, err := readRecords(o.records); err != nil || len(r.Steps) != 1 || r.Steps[0].Name != "busy" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestDivide_GivesEachTestToOneLane(t *testing.T) {
	seconds := map[string]float64{"a": 10, "b": 6, "c": 5, "d": 1}
	got := divide([]string{"d", "c", "b", "a"}, 2, func(test string) float64 { return seconds[test] })
	if want := [][]string{{"d", "a"}, {"c", "b"}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := divide([]string{"a"}, 3, func(string) float64 { return 0 }); len(got) != 1 {
		t.Errorf("one test in %d lanes", len(got))
	}
}

func TestBatches_HaveProgramsOfDifferentNames(t *testing.T) {
	var all []testPackage
	for _, path := range []string{"kinds/iam", "iam", "internal/engine", "x/iam"} {
		all = append(all, testPackage{ImportPath: "example.com/" + path, path: path, module: "."})
	}
	total := 0
	for _, b := range batches((&session{options: options{race: "1"}, race: must.Get(parseRace("1"))(t)}).variants(all)) {
		names := map[string]bool{}
		for _, p := range b.packages {
			total++
			if name := filepath.Base(p.path); names[name] {
				t.Errorf("two programs named %s", name)
			} else {
				names[name] = true
			}
			if (b.compiled == withRaces) != (p.path == "internal/engine") {
				t.Errorf("%s with the race detector: %v", p.path, b.compiled)
			}
		}
	}
	if total != len(all) {
		t.Errorf("%d of %d packages", total, len(all))
	}
}

func TestProcessorTime_CountsWhatWasStarted(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux counts here")
	}
	if used := parseStat("42 (a (b) c) S 7 1 1 0 -1 0 0 0 0 0 3 4 5 6 20 0 1 0 0 0"); used != 18 {
		t.Errorf("%d ticks", used)
	}
	before := processorTime(os.Getpid())
	for begin := time.Now(); time.Since(begin) < 200*time.Millisecond; {
		_ = slices.Sorted(slices.Values([]int{3, 2, 1}))
	}
	if took := processorTime(os.Getpid()) - before; took <= 0 {
		t.Errorf("busy for %s", took)
	}

	// A child that runs counts as well, whichever thread has started it.
	child := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	for processorTime(child.Process.Pid) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	own := parseStat(string(must.Get(os.ReadFile("/proc/self/stat"))(t)))
	if all := processorTime(os.Getpid()); all <= time.Duration(own)*time.Second/ticks {
		t.Errorf("%s, and the process alone %d ticks", all, own)
	}
}

func TestMergeProfiles_KeepsOneHead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.cover": "mode: atomic\nx 1\n", "b.cover0": "mode: atomic\ny 2\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, "out")
	if err := mergeProfiles(dir, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(to); err != nil || string(text) != "mode: atomic\nx 1\ny 2\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestCommands_NameTheModuleOfAPackage(t *testing.T) {
	s := &session{options: options{extent: "3/8"},
		failures: []failure{{pkg: "test/e2e", test: "TestA/sub"}, {pkg: "test/e2e", test: "TestA"}, {pkg: "dev/bed", test: "TestB"},
			{pkg: "dev/chart"},
			{pkg: "internal/controller", test: "TestC", setting: autoModeSetting}, {pkg: "internal/engine", test: "TestD", raced: true}}}
	want := []string{"NEXUS_TESTS=3/8 go test -count=1 -run '^TestA$' ./test/e2e",
		"NEXUS_TESTS=3/8 go -C dev test -count=1 -run '^TestB$' ./bed",
		"NEXUS_TESTS=3/8 go -C dev/chart test -count=1 .",
		"NEXUS_BED_AUTO_MODE=1 NEXUS_TESTS=3/8 go test -count=1 -run '^TestC$' ./internal/controller",
		"CGO_ENABLED=1 NEXUS_TESTS=3/8 go test -count=1 -race -run '^TestD$' ./internal/engine"}
	if got := s.commands(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// Every test of the rooms runs in each run, some with the race detector; four runs race all of them, and the small rooms always are.
func TestVariants_RaceEachTestInOneRunOfFour(t *testing.T) {
	t.Chdir("../..")
	packages := must.Get(listPackages(t.Context(), []string{"."}, nil))(t)
	all, racedTests := map[string]int{}, map[string]int{}
	for part := range 4 {
		flag := fmt.Sprintf("%d/4", part+1)
		s := &session{options: options{race: flag}, race: must.Get(parseRace(flag))(t)}
		for _, v := range s.variants(packages) {
			if v.compiled == plainly {
				if slices.ContainsFunc(rooms, v.isIn) {
					t.Errorf("%s has no coverage", v.path)
				}
				continue
			}
			if v.compiled == withCoverage && !v.isIn(dividedRoom) {
				t.Errorf("%s: %s has no race detector", flag, v.path)
			}
			tests := v.tests
			if tests == nil {
				tests = must.Get(testsIn(v.Dir, []string{"*_test.go"}))(t)
			}
			for _, test := range tests {
				all[v.path+" "+test]++
				if v.compiled == withRaces && v.isIn(dividedRoom) {
					racedTests[v.path+" "+test]++
				}
			}
		}
	}
	for test, n := range all {
		if n != 4 {
			t.Errorf("%s runs %d times in four runs", test, n)
		}
		if n := racedTests[test]; strings.HasPrefix(test, dividedRoom) && n != 1 {
			t.Errorf("%s runs %d times with the race detector in four runs", test, n)
		}
	}
	if len(all) < 500 || len(racedTests) < 300 {
		t.Errorf("%d tests, of which %d are divided", len(all), len(racedTests))
	}
}

func TestEnvironment_HasOneThreadUnlessTheRaceDetectorNeedsMore(t *testing.T) {
	t.Setenv("GOMAXPROCS", "") // restored after the test
	t.Setenv("GOGC", "50")
	if err := os.Unsetenv("GOMAXPROCS"); err != nil {
		t.Fatal(err)
	}
	for kind, threads := range map[compiled]string{plainly: "1", withCoverage: "1", withRaces: ""} {
		got := map[string]string{}
		for _, setting := range (&session{}).environment(&job{pkg: testPackage{compiled: kind}}) {
			name, value, _ := strings.Cut(setting, "=")
			got[name] = value // the last one counts, as for a program
		}
		if got["GOMAXPROCS"] != threads || got["GOGC"] != "50" {
			t.Errorf("compiled %v: GOMAXPROCS=%s GOGC=%s", kind, got["GOMAXPROCS"], got["GOGC"])
		}
	}
}

func TestArguments_CheckFewerCasesOfPropertiesInTheSample(t *testing.T) {
	random := &job{pkg: testPackage{path: expensiveProperties}}
	for e, limited := range map[string]bool{"sample": true, "all": false, "1/1": false} {
		args := random.arguments(time.Minute, must.Get(extent.Parse(e))(t))
		if slices.Contains(args, fmt.Sprintf("-rapid.checks=%d", sampleChecks)) != limited {
			t.Errorf("%s: %v", e, args)
		}
	}
	if args := (&job{}).arguments(time.Minute, extent.Extent{}); slices.ContainsFunc(args,
		func(a string) bool { return strings.Contains(a, "rapid") }) {
		t.Errorf("a package without the library gets its flag: %v", args)
	}
}

func TestParseRace_RefusesWhatIsNoPart(t *testing.T) {
	for _, flag := range []string{"0/4", "5/4", "2", "yes", "sample"} {
		if _, err := parseRace(flag); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("-race %s: %v", flag, err)
		}
	}
	if e := must.Get(parseRace("1"))(t); !e.Has("anything") {
		t.Error("1 races a part")
	}
}

func TestAutoMode_NamesTestsThatExist(t *testing.T) {
	for _, m := range autoMode {
		p := testPackage{path: m.path, Dir: "../../" + m.path}
		tests := must.Get(testsIn(p.Dir, []string{"*_test.go"}))(t)
		for _, pattern := range slices.Concat(strings.Split(m.tests, "|"), strings.Split(m.sample, "|")) {
			if !slices.ContainsFunc(tests, func(name string) bool { return strings.Contains(name, pattern) }) {
				t.Errorf("no test of %s has %q in its name", m.path, pattern)
			}
		}
		for _, pattern := range m.files {
			if len(must.Get(testsIn(p.Dir, []string{pattern}))(t)) == 0 {
				t.Errorf("%s: %s has no test", m.path, pattern)
			}
		}
		sample, full := &session{}, &session{options: options{extent: "all"}}
		if s, f := sample.inAutoMode(p, tests), full.inAutoMode(p, tests); len(f) <= len(s) || (len(s) > 0) != (m.sample != "") {
			t.Errorf("%s: %d tests in the sample, %d in full runs", m.path, len(s), len(f))
		}
	}
}

// ofIntents matches the source of a test of security intents: it names their kinds, those of an engine, or a helper that creates them.
var ofIntents = regexp.MustCompile(`\bintentv1alpha1\.|\benginecrds\.|SecurityIntent\w*"|\bSecuritySpec\{|\.declared\(|\.binds\(`)

// withoutAutoMode says why tests that have to do with intents do not run in a cluster of EKS Auto Mode, by package or by test.
var withoutAutoMode = map[string]string{
	"internal/capability":            "nothing runs: the API server judges what is compiled",
	"internal/controller/capability": "the test plays the reconciler of bindings, and nothing asks what the nodes are",
	"internal/controller TestCensus_BoundsLabelsThatAnybodyCouldWrite":           "it counts objects that no reconciler looks at",
	"internal/controller TestCache_BoundsTheMetadataOfEveryKind":                 "it reads the cache, and no reconciler runs",
	"internal/controller TestStateMetrics_CountAThousandObjectsWithoutCopies":    "it counts objects that no reconciler looks at",
	"internal/controller TestReach_AllowsHealingOrphansAndTakeovers":             "the API server judges what the operator may write, whatever the nodes are",
	"internal/controller TestALifeUsesEveryRightThatTheOperatorHas":              "rights to read the pods and endpoints of DNS are used only where it has pods",
	"internal/controller TestAMissingRightIsReportedAndWorkContinuesOnceGranted": "it takes such rights away",
	"test/cli TestPlan_IsWhatFollowsFromAnyEdit":                                 "plans of policies on such nodes have a test there",
	"test/cli TestPlanServer_RefusesWhatIsNotOfTheNamespace":                     "requests are refused before anything is looked at",
	"test/cli TestUI_ReadsWithTheRightsOfItsUser":                                "the API server answers what the user may read, whatever the nodes are",
	"test/e2e TestMetrics_ARunExposesExactlyTheDocumentedOnes":                   "it lists the metrics of a run, which are the same",
}

func TestAutoMode_LeavesOutNoTestOfIntents(t *testing.T) {
	left := maps.Clone(withoutAutoMode)
	for _, dir := range packagesWithWorlds(t) {
		path := strings.TrimPrefix(dir, "../../")
		runs := (&session{options: options{extent: "all"}}).inAutoMode(testPackage{path: path, Dir: dir},
			must.Get(testsIn(dir, []string{"*_test.go"}))(t))
		for _, f := range must.Get(filepath.Glob(dir + "/*_test.go"))(t) {
			for _, found := range testFunction.FindAllStringSubmatch(string(must.Get(os.ReadFile(f))(t)), -1) {
				name := found[1]
				if !ofIntents.MatchString(found[0]) {
					continue
				}
				_, whole := withoutAutoMode[path]
				_, one := withoutAutoMode[path+" "+name]
				delete(left, path)
				delete(left, path+" "+name)
				if runs := slices.Contains(runs, name); runs == (whole || one) {
					t.Errorf("%s %s runs in a cluster of EKS Auto Mode: %t, with a reason why not: %t", path, name, runs, whole || one)
				}
			}
		}
	}
	for of := range left {
		t.Errorf("no test of intents is meant by %q", of)
	}
}

// packagesWithWorlds returns the folders of the packages whose tests start their own Kubernetes.
func packagesWithWorlds(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "../.." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if dir := filepath.Dir(path); err == nil && bytes.Contains(text, []byte("world.Main(")) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("packages with worlds: %v, %v", out, err)
	}
	return out
}
