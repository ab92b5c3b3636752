// Command mutants changes conditions and constants of packages, one at a time, and says
// which changes no test of the package notices. It leaves out what decides of a log line
// alone, and sizes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// swaps says by what each operator is replaced.
var swaps = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.LAND: "||", token.LOR: "&&",
}

// sizes are constants that one more changes in no way that a person or an operator sees:
// lengths of pages and caches, room for a model's answer, bounds of waiting for a server.
var sizes = strings.Fields(`erasurePage unsettledPage recentTurns memoryParallel rememberEntries WindowEntries
	answerTokens thoughtTokens stageTokens leastCounted leastTimed bookLimit settleLimit vectorLimit heartbeatEvery halvings`)

// logLine matches a statement that writes a line of the log.
var logLine = regexp.MustCompile(`^(?:slog|activity\.GetLogger\(ctx\))\.(?:Debug|Info|Warn|Error)`)

// buildLimit bounds one build.
const buildLimit = 10 * time.Minute

// mutant is one change: the text between two offsets of a file becomes another. A
// condition is changed by a switch in one build, a constant in a build of its own.
type mutant struct {
	file       string
	line       int
	from, to   int
	text       string
	isConstant bool
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s", m.file, m.line, strings.Join(strings.Fields(m.text), " "))
}

func main() {
	sample := flag.Int("sample", 0, "how many mutants of each package, drawn by -seed; 0: all")
	seed := flag.Uint64("seed", 1, "which mutants are drawn")
	least := flag.Float64("least", 0.9, "the share of mutants that must be killed")
	limit := flag.Duration("limit", 2*time.Minute, "how long the tests of a package may take; a mutant that takes longer is killed")
	flag.Parse()
	failed := false
	for _, dir := range flag.Args() {
		run, err := newRun(dir, *limit)
		if err == nil {
			err = run.judge(*sample, *seed, *least)
		}
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %v\n", dir, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// run holds the mutants of one package.
type run struct {
	dir, scratch string
	limit        time.Duration
	sources      map[string][]byte
	mutants      []mutant
}

func newRun(dir string, limit time.Duration) (*run, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &run{dir: absolute, limit: limit, sources: map[string][]byte{}}
	if r.scratch, err = os.MkdirTemp("", "mutants-"); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(absolute, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if r.sources[name], err = os.ReadFile(name); err != nil {
			return nil, err
		}
		if err := r.findMutants(name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// findMutants lists the mutants of a file.
func (r *run) findMutants(name string) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, r.sources[name], parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := &finder{run: r, name: name, files: files}
	ast.Inspect(parsed, f.visit)
	return nil
}

// finder lists the mutants of a file as it is walked.
type finder struct {
	*run
	name    string
	files   *token.FileSet
	isConst bool
}

func (f *finder) text(from, to token.Pos) string {
	return string(f.sources[f.name][f.files.Position(from).Offset:f.files.Position(to).Offset])
}

func (f *finder) add(n ast.Node, becomes string, isConstant bool) {
	at := f.files.Position(n.Pos())
	f.mutants = append(f.mutants, mutant{f.name, at.Line, at.Offset, f.files.Position(n.End()).Offset, becomes, isConstant})
}

// isLogOnly reports whether a condition decides about a line of the log alone.
func (f *finder) isLogOnly(n *ast.IfStmt) bool {
	return n.Else == nil && len(n.Body.List) == 1 && logLine.MatchString(f.text(n.Body.List[0].Pos(), n.Body.List[0].End()))
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return f.visitDeclaration(n)
	case *ast.BinaryExpr:
		if other, found := swaps[n.Op]; found && !f.isConst {
			f.add(n, f.text(n.Pos(), n.OpPos)+other+f.text(n.OpPos+token.Pos(len(n.Op.String())), n.End()), false)
		}
	case *ast.ValueSpec:
		return !f.isConst || !slices.Contains(sizes, n.Names[0].Name)
	case *ast.IfStmt:
		if f.isLogOnly(n) {
			return false
		}
		if _, isBinary := n.Cond.(*ast.BinaryExpr); !isBinary {
			f.add(n.Cond, "!("+f.text(n.Cond.Pos(), n.Cond.End())+")", false)
		}
	case *ast.BasicLit:
		if value, err := strconv.Atoi(n.Value); f.isConst && n.Kind == token.INT && err == nil {
			f.add(n, strconv.Itoa(value+1), true)
		}
	}
	return true
}

func (f *finder) visitDeclaration(n *ast.GenDecl) bool {
	if n.Tok != token.CONST {
		return n.Tok == token.VAR
	}
	f.isConst = true
	for _, spec := range n.Specs {
		ast.Inspect(spec, f.visit)
	}
	f.isConst = false
	return false
}

// judge tries the mutants and reports those that live.
func (r *run) judge(sample int, seed uint64, least float64) error {
	defer os.RemoveAll(r.scratch)
	// Properties that fail leave a file, which is of use for no mutant.
	left := filepath.Join(r.dir, "testdata", "rapid")
	if _, err := os.Stat(left); errors.Is(err, os.ErrNotExist) {
		defer os.RemoveAll(left)
	}
	drawn := slices.Clone(r.mutants)
	if sample > 0 && sample < len(drawn) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		drawn = drawn[:sample]
	}
	drawn, err := r.buildSwitched(drawn)
	if err != nil {
		return err
	}
	if !r.passes("tests", 0) {
		return errors.New("the tests fail without a mutant")
	}
	killed, tried := 0, 0
	for i, m := range drawn {
		program := "tests"
		if m.isConstant {
			program = "constant"
			if r.build(map[string]string{m.file: replaceAll(r.sources[m.file], []edit{{m.from, m.to, m.text}})}, program) != nil {
				continue // the constant stands where no other may
			}
		}
		tried++
		if r.passes(program, i+1) {
			fmt.Println("lives:", m)
			continue
		}
		killed++
	}
	if tried == 0 {
		return errors.New("there is nothing to change")
	}
	share := float64(killed) / float64(tried)
	fmt.Printf("%s: %d of %d mutants killed (%.0f %%), of %d\n", r.dir, killed, tried, 100*share, len(r.mutants))
	if share < least {
		return fmt.Errorf("%.0f %% are to be killed", 100*least)
	}
	return nil
}

// edit is a text between two offsets.
type edit struct {
	from, to int
	text     string
}

func replaceAll(source []byte, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	out := string(source)
	for _, e := range edits {
		out = out[:e.from] + e.text + out[e.to:]
	}
	return out
}

var failedLine = regexp.MustCompile(`(?m)^([^\s:]+\.go):(\d+):`)

// buildSwitched builds the tests with all conditions behind a switch, and returns the
// mutants that such a build can hold: a condition of a named type is left out.
func (r *run) buildSwitched(drawn []mutant) ([]mutant, error) {
	for range 10 {
		err := r.build(r.switched(drawn), "tests")
		if err == nil {
			return drawn, nil
		}
		bad := map[string]bool{}
		for _, at := range failedLine.FindAllStringSubmatch(err.Error(), -1) {
			bad[filepath.Base(at[1])+":"+at[2]] = true
		}
		before := len(drawn)
		drawn = slices.DeleteFunc(drawn, func(m mutant) bool {
			return !m.isConstant && bad[filepath.Base(m.file)+":"+strconv.Itoa(m.line)]
		})
		if len(drawn) == before {
			return nil, err
		}
	}
	return nil, errors.New("the switches do not build")
}

// switched returns the files with each condition behind its switch.
func (r *run) switched(drawn []mutant) map[string]string {
	byFile := map[string][]int{}
	for i, m := range drawn {
		if !m.isConstant {
			byFile[m.file] = append(byFile[m.file], i)
		}
	}
	files := map[string]string{}
	pkg := ""
	for name, source := range r.sources {
		if pkg == "" {
			_, rest, _ := strings.Cut("\n"+string(source), "\npackage ")
			pkg, _, _ = strings.Cut(rest, "\n")
		}
		if len(byFile[name]) > 0 {
			files[name] = r.wrap(drawn, byFile[name], string(source), 0, len(source))
		}
	}
	files[filepath.Join(r.dir, "mutant_switch.go")] = "package " + pkg + "\n\nimport (\n\"os\"\n\"strconv\"\n)\n\nvar mutantNumber, _ = strconv.Atoi(os.Getenv(\"MUTANT\"))\n"
	return files
}

// wrap returns a part of a source with the outermost of its mutants behind switches, and
// those within likewise.
func (r *run) wrap(drawn []mutant, which []int, source string, from, to int) string {
	out, at := "", from
	slices.SortFunc(which, func(a, b int) int {
		if drawn[a].from != drawn[b].from {
			return drawn[a].from - drawn[b].from
		}
		return drawn[b].to - drawn[a].to
	})
	for n := 0; n < len(which); {
		m := drawn[which[n]]
		inner := n + 1
		for inner < len(which) && drawn[which[inner]].to <= m.to {
			inner++
		}
		body := r.wrap(drawn, which[n+1:inner], source, m.from, m.to)
		// No line is added, so that a message names the line of the source.
		out += source[at:m.from] + fmt.Sprintf("func() bool { if mutantNumber == %d { return %s }; return %s }()", which[n]+1, strings.Join(strings.Fields(m.text), " "), body)
		at, n = m.to, inner
	}
	return out + source[at:to]
}

// build builds the tests of the package with some of its files replaced.
func (r *run) build(files map[string]string, program string) error {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range files {
		at := filepath.Join(r.scratch, program+"-"+filepath.Base(name))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return err
		}
		overlay.Replace[name] = at
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	list := filepath.Join(r.scratch, program+".json")
	if err := os.WriteFile(list, raw, 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", list, "-o", filepath.Join(r.scratch, program), ".")
	cmd.Dir = r.dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}

// passes reports whether all tests pass under a mutant.
func (r *run) passes(program string, number int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), r.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(r.scratch, program), "-test.failfast", "-test.short")
	cmd.Dir = r.dir
	cmd.Env = append(cmd.Environ(), "MUTANT="+strconv.Itoa(number))
	return cmd.Run() == nil
}
