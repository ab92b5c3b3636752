package twilio

import (
	"embed"
	"io/fs"
	"net/http"
)

// pageFiles are the phone page: one document, its script, style and icon.
//
//go:embed page
var pageFiles embed.FS

// pagePolicy lets the page use files and answers of its own origin and nothing
// else: no inline script, style or handler, no plug-in, no frame around it.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// servePage serves the files of the phone page below /sim/.
func servePage() http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // The folder is compiled in under this name.
	}
	serve := http.StripPrefix("/sim/", http.FileServerFS(files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", pagePolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		// Files that are compiled in have no date to compare: a new build's page
		// must not run an old build's script.
		header.Set("Cache-Control", "no-store")
		serve.ServeHTTP(w, r)
	})
}
