package database

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoListen says that the database has no notifications: SQLite.
var ErrNoListen = errors.New("the database has no notifications")

// Listen calls received with the payload of each notification of a channel of
// PostgreSQL, over a connection of its own, until ctx ends or the connection
// fails. ready is called when nothing is missed any more. ErrNoListen on SQLite.
// channel is a name of ours, never input.
func (d *Database) Listen(ctx context.Context, channel string, ready func(), received func(payload string)) (err error) {
	if d.dial == nil {
		return ErrNoListen
	}
	conn, err := d.dial(ctx)
	if err != nil {
		return fmt.Errorf("connecting to listen: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	ready()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("waiting for notifications: %w", err)
		}
		received(n.Payload)
	}
}
