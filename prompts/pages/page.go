// Package pages reads texts that an operator adds to the coach: files with a
// head in YAML between two lines of three dashes, and a body. Playbooks and
// focuses are such pages.
package pages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits of a page, in characters: the whole file, and the line that is part of
// every request.
const (
	MaxFile        = 8000
	maxDescription = 300
)

// Page is a text with a head. It holds no personal data.
type Page struct {
	// File is the name of its file without the folder.
	File        string
	Name        string
	Description string
	// Keywords are words of any language that ask for the page.
	Keywords []string
	// Tools are those that go with the page; nil: all of them, empty: none.
	Tools []string
	// Body is trimmed; its headings are of the second level at most, so that
	// no page can open a section of the system message.
	Body string
	// Source is the whole file, for the version of the texts.
	Source string
}

// Permits reports whether a tool goes with the page.
func (p Page) Permits(tool string) bool {
	return p.Tools == nil || slices.Contains(p.Tools, tool)
}

// head is what the lines between the dashes may hold.
type head struct {
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Keywords    []string `yaml:"keywords"`
	// Tools is a node, to tell a line that was left out from an empty one: who
	// writes "tools:" and nothing behind it does not mean every tool.
	Tools yaml.Node `yaml:"tools"`
}

var (
	pageName   = regexp.MustCompile(`^[a-z0-9]+([_-][a-z0-9]+)*$`)
	topHeading = regexp.MustCompile(`(?m)^#[ \t]`)
	errNoText  = errors.New("has no text")
)

// Parse reads a page. The error says what is wrong with it; the caller names
// the folder. A page without a body is an error.
func Parse(file, source string) (Page, error) {
	page := Page{File: file, Source: source}
	if !utf8.ValidString(source) {
		return page, errors.New("is not UTF-8")
	}
	if n := utf8.RuneCountInString(source); n > MaxFile {
		return page, fmt.Errorf("has %d characters; at most %d are allowed", n, MaxFile)
	}
	top, body, found := split(source)
	if page.Body = topHeading.ReplaceAllString(body, "## "); page.Body == "" {
		return page, errNoText
	}
	if !found {
		return page, errors.New("has no head: it begins with a line of three dashes, name, description, and three dashes")
	}
	return page, page.read(top)
}

// split divides a file into head and body; found is false where there is no
// head, and everything is body then.
func split(source string) (top, body string, found bool) {
	source = strings.ReplaceAll(strings.TrimPrefix(source, "\ufeff"), "\r\n", "\n")
	lines := strings.Split(strings.TrimLeft(source, "\n"), "\n")
	dashes := func(line string) bool { return strings.TrimRight(line, " \t") == "---" }
	if !dashes(lines[0]) {
		return "", strings.TrimSpace(source), false
	}
	end := slices.IndexFunc(lines[1:], dashes)
	if end < 0 {
		return "", strings.TrimSpace(source), false
	}
	return strings.Join(lines[1:1+end], "\n"), strings.TrimSpace(strings.Join(lines[end+2:], "\n")), true
}

func (p *Page) read(top string) error {
	var fields head
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(top)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&fields); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading its head: %w", err)
	}
	p.Name = fields.Name
	p.Description = strings.TrimSpace(fields.Description)
	p.Keywords = fields.Keywords
	if !fields.Tools.IsZero() {
		p.Tools = []string{}
		if err := fields.Tools.Decode(&p.Tools); err != nil {
			return fmt.Errorf("reading its tools: %w", err)
		}
		p.Tools = append([]string{}, p.Tools...)
	}
	switch {
	case !pageName.MatchString(p.Name):
		return fmt.Errorf("has the name %q; a name is lower-case letters and digits, with - or _ between them", p.Name)
	case p.Description == "":
		return errors.New("has no description")
	case strings.ContainsAny(p.Description, "\n\r"):
		return errors.New("has a description of more than one line")
	case utf8.RuneCountInString(p.Description) > maxDescription:
		return fmt.Errorf("has a description of more than %d characters", maxDescription)
	}
	return nil
}

// Read reads the pages of folders, in the order of their files' names. A file
// of a later folder replaces that of the same name in an earlier one, and takes
// it away when it has no text. A folder that does not exist holds no pages;
// hidden files are skipped, since mounted folders hold some. Errors name the
// file.
func Read(folders ...fs.FS) ([]Page, error) {
	var all []Page
	for _, folder := range folders {
		entries, err := fs.ReadDir(folder, ".")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), ".") {
				continue
			}
			page, err := readFile(folder, entry)
			if all, err = place(all, page, err); err != nil {
				return nil, fmt.Errorf("%s %w", entry.Name(), err)
			}
		}
	}
	return all, unique(all)
}

func readFile(folder fs.FS, entry fs.DirEntry) (Page, error) {
	page := Page{File: entry.Name()}
	if entry.IsDir() || !strings.HasSuffix(entry.Name(), ".md") {
		return page, errors.New("is no text: the files of this folder end in .md")
	}
	source, err := fs.ReadFile(folder, entry.Name())
	if err != nil {
		return page, fmt.Errorf("cannot be read: %w", err)
	}
	return Parse(entry.Name(), string(source))
}

// place puts a page where it belongs; err is what reading it came to.
func place(all []Page, page Page, err error) ([]Page, error) {
	at := 0
	for at < len(all) && all[at].File < page.File {
		at++
	}
	replaces := at < len(all) && all[at].File == page.File
	switch {
	case errors.Is(err, errNoText) && replaces:
		return append(all[:at], all[at+1:]...), nil
	case err != nil:
		return all, err
	case replaces:
		all[at] = page
		return all, nil
	}
	return append(all[:at], append([]Page{page}, all[at:]...)...), nil
}

func unique(all []Page) error {
	files := map[string]string{}
	for _, page := range all {
		if other, taken := files[page.Name]; taken {
			return fmt.Errorf("%s has the name %s, and so has %s", page.File, page.Name, other)
		}
		files[page.Name] = page.File
	}
	return nil
}
