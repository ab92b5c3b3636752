package prompts

import (
	"errors"
	"fmt"
	"io/fs"
	"os" //nolint:depguard // loadPageFolders reads the operator's folders, once, at start-up
	"path"
	"path/filepath"
	"slices"
	"strings"

	"coachline/models/wire"
	"coachline/prompts/pages"
)

// Folders of pages, in an operator's folder and embedded.
const (
	playbookFolder = "playbooks"
	focusFolder    = "focuses"
)

// pageFolders holds the pages of a library, each kind in the order of its files' names.
type pageFolders struct {
	playbooks, focuses []pages.Page
}

func isPageFolder(entry fs.DirEntry) bool {
	return entry.Name() == playbookFolder || entry.Name() == focusFolder
}

// loadPageFolders reads the pages; without shipped there are no focuses but an operator's.
func loadPageFolders(dir string, shipped bool) (pageFolders, error) {
	var s pageFolders
	own, err := fs.Sub(embedded, playbookFolder)
	if err != nil {
		return s, fmt.Errorf("opening embedded playbooks: %w", err)
	}
	playbooks, focuses := []fs.FS{own}, []fs.FS(nil)
	if shipped {
		ours, err := fs.Sub(embedded, focusFolder)
		if err != nil {
			return s, fmt.Errorf("opening embedded focuses: %w", err)
		}
		focuses = append(focuses, ours)
	}
	if dir != "" {
		playbooks = append(playbooks, os.DirFS(filepath.Join(dir, playbookFolder)))
		focuses = append(focuses, os.DirFS(filepath.Join(dir, focusFolder)))
	}
	if s.playbooks, err = readPages(playbookFolder, playbooks, playbookHead); err != nil {
		return s, err
	}
	s.focuses, err = readPages(focusFolder, focuses, focusHead)
	return s, err
}

func readPages(folder string, from []fs.FS, check func(pages.Page) error) ([]pages.Page, error) {
	all, err := pages.Read(from...)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", folder, err)
	}
	for i, page := range all {
		all[i].File = path.Join(folder, page.File)
		if err := check(page); err != nil {
			return nil, fmt.Errorf("%s %w", all[i].File, err)
		}
	}
	return all, nil
}

func playbookHead(page pages.Page) error {
	if page.Tools != nil {
		return errors.New("has tools in its head; those are for a focus")
	}
	return nil
}

func focusHead(page pages.Page) error {
	if page.Keywords != nil {
		return errors.New("has keywords in its head; those are for a playbook")
	}
	return nil
}

func (s pageFolders) all() []pages.Page { return slices.Concat(s.playbooks, s.focuses) }

// Playbooks lists the playbooks, in the order of their files' names.
func (l *Library) Playbooks() []pages.Page { return slices.Clone(l.folders.playbooks) }

// Focuses lists the coaching focuses, in the order of their files' names.
func (l *Library) Focuses() []pages.Page { return slices.Clone(l.folders.focuses) }

// Focus finds a focus by its name.
func (l *Library) Focus(name string) (pages.Page, bool) { return byName(l.folders.focuses, name) }

// Playbook is the text of a playbook. Names are looked up in what was
// loaded, so none is ever used as a path.
func (l *Library) Playbook(name string) (text string, ok bool) {
	page, ok := byName(l.folders.playbooks, name)
	return page.Body, ok
}

func byName(all []pages.Page, name string) (pages.Page, bool) {
	at := slices.IndexFunc(all, func(page pages.Page) bool { return page.Name == name })
	if at < 0 {
		return pages.Page{}, false
	}
	return all[at], true
}

// PlaybookNames lists the playbooks, in the order of their files' names.
func (l *Library) PlaybookNames() []string {
	var names []string
	for _, page := range l.folders.playbooks {
		names = append(names, page.Name)
	}
	return names
}

// PlaybookWords lists words of any language that ask for some playbook, each
// once.
func (l *Library) PlaybookWords() []string {
	var words []string
	for _, page := range l.folders.playbooks {
		for _, keyword := range page.Keywords {
			words = append(words, strings.Fields(strings.ToLower(keyword))...)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// PlaybookSection is what a system message says of the playbooks: their
// names and descriptions, never their texts. Empty where there are none.
func (l *Library) PlaybookSection() (string, error) {
	if len(l.folders.playbooks) == 0 {
		return "", nil
	}
	return l.Render(PlaybookList, StageData{Tools: PageLines(l.folders.playbooks)})
}

// PageLines is the pages as the stages' texts list them.
func PageLines(all []pages.Page) []ToolLine {
	lines := make([]ToolLine, len(all))
	for i, page := range all {
		lines[i] = ToolLine{Name: page.Name, Description: page.Description}
	}
	return lines
}

// checkFocuses reports the first focus that names a tool which does not exist,
// or whose text asks for one that it does not let through.
func (l *Library) checkFocuses(offers map[wire.Mode]Offer) error {
	var every Offer
	for _, offer := range offers {
		every.Tools = append(every.Tools, offer.Tools...)
		every.Words = append(every.Words, offer.Words...)
	}
	for _, focus := range l.folders.focuses {
		for _, tool := range focus.Tools {
			if !slices.Contains(every.Tools, tool) {
				slices.Sort(every.Tools)
				return fmt.Errorf("prompt %s lets through %q, which is no tool; tools are %s",
					focus.File, tool, strings.Join(slices.Compact(every.Tools), ", "))
			}
		}
		mine := Offer{Words: every.Words, Tools: slices.DeleteFunc(slices.Clone(every.Tools), func(tool string) bool { return !focus.Permits(tool) })}
		if word, bad := badWord(focus.Body, mine, every.Tools); bad {
			return fmt.Errorf("prompt %s names %q, which is not offered where it is used", focus.File, word)
		}
	}
	return nil
}
