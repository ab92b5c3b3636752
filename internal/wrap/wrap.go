// Package wrap says of an error what was being done.
package wrap

import "fmt"

// Error returns err behind what was being done, which it wraps; nil for nil.
func Error(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Errorf is Error with a format.
func Errorf(err error, format string, args ...any) error {
	return Error(err, fmt.Sprintf(format, args...))
}
