package database

import (
	"context"
	"database/sql/driver"
)

// wrapper changes a connector of database/sql; nil changes nothing.
type wrapper func(driver.Connector) driver.Connector

func (w wrapper) wrapConnector(c driver.Connector) driver.Connector {
	if w == nil {
		return c
	}
	return w(c)
}

type wrapperKey struct{}

// WithConnector returns a context under which Open passes the connectors of its
// pools through wrap, which sees every connection, statement and commit. Fault
// injection uses it. A file of SQLite that is opened so is not shared with the
// other parts of the process.
func WithConnector(ctx context.Context, wrap func(driver.Connector) driver.Connector) context.Context {
	return context.WithValue(ctx, wrapperKey{}, wrapper(wrap))
}

func connectorWrapper(ctx context.Context) wrapper {
	wrap, _ := ctx.Value(wrapperKey{}).(wrapper)
	return wrap
}
