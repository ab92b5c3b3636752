package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWaysIn finds every place where messages of a person enter the system. All of
// them call a function of the store that screens before it writes; a place that
// is not listed here has no end-to-end run in worker/screening_test.go yet.
func TestWaysIn(t *testing.T) {
	want := map[string][]string{
		// What stores and screens a message, and who calls it.
		"AcceptInbound": {
			"eval/play.go sendText",
			"internal/rehearsal/conversation.go write",
			"starter/webhooks.go acceptInbound",
		},
		"acceptStranger": {
			"internal/store/messages.go acceptInbound",
		},
		"acceptJoin": {
			"internal/store/messages.go acceptStranger",
		},
		"AcceptTranscription": {
			"worker/voice.go transcribeAll",
		},
		"acceptInbound": {
			"starter/chat.go acceptChat",
			"starter/webhooks.go receiveInbound",
		},
		// What makes text of sound.
		"Transcribe": {
			"worker/voice.go transcribeNote",
		},
	}
	got := map[string][]string{}
	var writers []string
	for _, path := range textFiles(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/sim/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			place := filepath.ToSlash(path) + " " + fn.Name.Name
			ast.Inspect(fn, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr: // called, or passed as a value
					if _, listed := want[n.Sel.Name]; listed && n.Sel.Name != "Transcribe" && (n.Sel.Name != "acceptInbound" || strings.HasPrefix(path, "starter/")) {
						got[n.Sel.Name] = append(got[n.Sel.Name], place)
					}
				case *ast.CallExpr:
					if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Transcribe" {
						got["Transcribe"] = append(got["Transcribe"], place)
					}
					if createsInbound(fn, n) {
						writers = append(writers, place)
					}
				}
				return true
			})
		}
	}
	for name := range got {
		slices.Sort(got[name])
		got[name] = slices.Compact(got[name])
	}
	require.Equal(t, want, got)
	slices.Sort(writers)
	require.Equal(t, []string{
		"internal/store/alerts.go keepInbound",
		// A text that joins a study: all of them run behind acceptStranger.
		"internal/store/joins.go acceptJoin",
		"internal/store/joins.go agreeToJoin",
		"internal/store/joins.go answerJoin",
		"internal/store/joins.go askForNewVersion",
		"internal/store/messages.go acceptKnown",
		"internal/store/messages.go acceptLimited",
		"internal/store/messages.go acceptStranger",
	}, slices.Compact(writers), "rows of inbound messages are written behind screen alone")
}

// createsInbound reports whether a call inserts a variable that its function
// declares as a models.Inbound.
func createsInbound(fn *ast.FuncDecl, call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Create", "Insert"}, method.Sel.Name) || len(call.Args) == 0 {
		return false
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		ref, ok := arg.(*ast.UnaryExpr)
		if !ok {
			return false
		}
		name, ok := ref.X.(*ast.Ident)
		return ok && declaresInbound(fn, name)
	})
}

// declaresInbound reports whether a function declares a variable of a name as a
// models.Inbound.
func declaresInbound(fn *ast.FuncDecl, name *ast.Ident) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		var names []*ast.Ident
		var kind ast.Expr
		switch decl := n.(type) {
		case *ast.Field:
			names, kind = decl.Names, decl.Type
		case *ast.ValueSpec:
			names, kind = decl.Names, decl.Type
		}
		if selector, ok := kind.(*ast.SelectorExpr); ok && selector.Sel.Name == "Inbound" {
			found = found || slices.ContainsFunc(names, func(n *ast.Ident) bool { return n.Name == name.Name })
		}
		return !found
	})
	return found
}
