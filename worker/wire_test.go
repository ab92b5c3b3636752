package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"coachline/internal/goldens"
	"coachline/models/wire"
	"coachline/workflows"
)

// TestWireNames compares every name that histories and running workflows hold
// with the recorded ones: workflows, signals, updates, queries, activities with
// the JSON fields of what they take and return, and the string constants of the
// models. A changed line breaks participants who are enrolled: keep the name, or
// give the change a change id. A new line is recorded with
// make record RUN=TestWireNames
func TestWireNames(t *testing.T) {
	w := collectWireNames()
	w.constants(t, "../models")
	w.constants(t, "../internal/api")
	slices.Sort(w.lines)
	got := strings.Join(slices.Compact(w.lines), "\n") + "\n"

	const file = "testdata/wire.golden"
	if goldens.ShouldRecord() {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	recorded, found := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	require.Empty(t, without(recorded, found), "names that are gone")
	require.Empty(t, without(found, recorded), "names that are new: record them with make record RUN=TestWireNames")
}

// TestHistoriesHoldWireTypes compares the types that histories hold with those of package
// wire: a type there is frozen, and no other is.
func TestHistoriesHoldWireTypes(t *testing.T) {
	var held []string
	for of := range collectWireNames().types {
		if of.PkgPath() != "" && of.PkgPath() != "time" {
			require.Equal(t, "coachline/models/wire", of.PkgPath(), "%s is in histories, so it belongs in package wire", of)
			held = append(held, of.Name())
		}
	}
	files, err := filepath.Glob("../models/wire/*.go")
	require.NoError(t, err)
	var declared []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`(?m)^type (\w+)`).FindAllSubmatch(text, -1) {
			declared = append(declared, string(found[1]))
		}
	}
	require.ElementsMatch(t, declared, held, "what no history holds belongs elsewhere")
}

// collectWireNames walks what workflows, signals, updates, queries and activities take
// and return.
func collectWireNames() *wireNames {
	w := &wireNames{within: map[reflect.Type]bool{}, types: map[reflect.Type]bool{}}
	w.workflow(wire.WorkflowType, workflows.Participant)
	w.workflow(wire.WorkflowReconcile, workflows.Reconcile)
	w.workflow(wire.SubagentWorkflowType, workflows.Subagent)
	w.value("signal "+wire.SignalMessageReceived, reflect.TypeFor[wire.InboxItem]())
	w.value("signal "+wire.SignalSubagentDone, reflect.TypeFor[wire.SubagentResult]())
	for name, in := range map[string]reflect.Type{
		wire.UpdateUnenroll: nil, wire.UpdateChangeSchedules: reflect.TypeFor[wire.ScheduleAsk](), wire.UpdatePause: reflect.TypeFor[wire.PauseRequest](),
		wire.UpdateTakeOver: reflect.TypeFor[wire.TakeOverRequest](), wire.UpdateHandBack: reflect.TypeFor[wire.HandBackRequest](),
		wire.UpdateResume: reflect.TypeFor[wire.ResumeRequest](), wire.UpdateSetMode: reflect.TypeFor[wire.SetModeRequest](),
		wire.UpdateSendMessage: reflect.TypeFor[wire.SendMessageRequest](), wire.UpdateParticipant: reflect.TypeFor[wire.ParticipantChanged](),
	} {
		w.value("update "+name, in)
	}
	w.value("query "+wire.QueryStatus, reflect.TypeFor[wire.StatusView]())
	w.value("query "+wire.QuerySchedules, reflect.TypeFor[[]wire.Schedule]())
	for field := range reflect.TypeFor[acts]().Fields() {
		for method := range field.Type.Methods() {
			w.activity(method)
		}
	}
	return w
}

// without gives the lines of a list that another does not have.
func without(lines, other []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(other, line) })
}

// wireNames collects lines. within holds the types around the present place: one
// that holds itself is not followed again.
type wireNames struct {
	lines  []string
	types  map[reflect.Type]bool
	within map[reflect.Type]bool
}

func (w *wireNames) add(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *wireNames) workflow(name string, fn any) {
	w.function("workflow "+name, reflect.TypeOf(fn), reflect.TypeFor[workflow.Context]())
}

// activity takes the methods that the SDK registers: those with a context first.
func (w *wireNames) activity(m reflect.Method) {
	w.function("activity "+m.Name, m.Type, reflect.TypeFor[context.Context]())
}

func (w *wireNames) function(name string, fn, contextType reflect.Type) {
	w.add("%s", name)
	for in := range fn.Ins() {
		if in != contextType && !isReceiver(in) {
			w.value(name+" in", in)
		}
	}
	for out := range fn.Outs() {
		if out != reflect.TypeFor[error]() {
			w.value(name+" out", out)
		}
	}
}

// isReceiver tells an activity's receiver from its input: inputs are values.
func isReceiver(in reflect.Type) bool { return in.Kind() == reflect.Pointer }

var (
	timeType      = reflect.TypeFor[time.Time]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
)

// value adds one line for each JSON field that can be reached from a type.
func (w *wireNames) value(place string, of reflect.Type) {
	if of == nil {
		w.add("%s", place)
		return
	}
	w.types[of] = true
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		w.value(place+map[reflect.Kind]string{reflect.Slice: "[]", reflect.Array: "[]", reflect.Map: "{}"}[of.Kind()], of.Elem())
	case reflect.Struct:
		w.fields(place, of)
	default:
		w.add("%s %s", place, of.Kind())
	}
}

func (w *wireNames) fields(place string, of reflect.Type) {
	if of == timeType || of.Implements(marshalerType) {
		w.add("%s %s", place, of)
		return
	}
	if w.within[of] {
		w.add("%s again", place)
		return
	}
	w.within[of] = true
	defer delete(w.within, of)
	w.add("%s object", place)
	for field := range of.Fields() {
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !field.IsExported() && !field.Anonymous:
		case field.Anonymous && name == "":
			w.value(place, field.Type)
		default:
			if name == "" {
				name = field.Name
			}
			if options != "" {
				w.add("%s.%s %s", place, name, options)
			}
			w.value(place+"."+name, field.Type)
		}
	}
}

// constants adds the string constants of the packages in a folder: kinds,
// states, error types, attribute and queue names.
func (w *wireNames) constants(t *testing.T, folder string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading constants: %w", err)
		}
		for _, d := range file.Decls {
			if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.CONST {
				w.group(group)
			}
		}
		return nil
	}))
}

func (w *wireNames) group(group *ast.GenDecl) {
	for _, s := range group.Specs {
		for _, value := range s.(*ast.ValueSpec).Values {
			ast.Inspect(value, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					plain, err := strconv.Unquote(text.Value)
					if err == nil {
						w.add("constant %q", plain)
					}
				}
				return true
			})
		}
	}
}
