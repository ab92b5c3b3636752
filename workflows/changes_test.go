package workflows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unexplained lists the change ids of a source file that have no reason: a
// comment that ends on the line above the call.
func unexplained(t *testing.T, path string, src []byte) []string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, parser.ParseComments)
	require.NoError(t, err)
	explained := map[int]bool{}
	for _, comment := range file.Comments {
		explained[files.Position(comment.End()).Line+1] = true
	}
	var missing []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if target, ok := call.Fun.(*ast.SelectorExpr); ok && target.Sel.Name == "GetVersion" && len(call.Args) > 1 {
			if at := files.Position(call.Pos()); !explained[at.Line] {
				id := src[call.Args[1].Pos()-file.FileStart : call.Args[1].End()-file.FileStart]
				missing = append(missing, at.String()+" "+string(id))
			}
		}
		return true
	})
	return missing
}

func TestEveryChangeIDHasAReason(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, unexplained(t, path, src), "a change id needs a one-line reason above it")
	}
	const sample = `package p

func f(ctx workflow.Context) {
	// Reminders read the row first: a reply being sent counts.
	if workflow.GetVersion(ctx, "reminder-asks-row", workflow.DefaultVersion, 1) == 1 {
	}
	v := workflow.GetVersion(ctx, "nobody-knows-why", workflow.DefaultVersion, 1)
}
`
	require.Equal(t, []string{`sample.go:7:7 "nobody-knows-why"`}, unexplained(t, "sample.go", []byte(sample)))
}
