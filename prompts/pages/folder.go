package pages

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

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
