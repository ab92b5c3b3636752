-- +goose Up
-- What the programme spends. A row that costs something leaves its reference in
-- cost_queue, in the transaction that writes it; a sweep turns the references into
-- rows of costs at the price of then, and removes them.
CREATE TABLE cost_queue (
    id     integer PRIMARY KEY AUTOINCREMENT,
    source text NOT NULL,
    ref    text NOT NULL
);

-- day is that of UTC, micros is in millionths of the currency and null where no
-- price was known.
CREATE TABLE costs (
    ref            text PRIMARY KEY,
    participant_id text NOT NULL,
    day            text NOT NULL,
    kind           text NOT NULL,
    model          text NOT NULL,
    stage          text NOT NULL,
    input_tokens   integer NOT NULL,
    cached_tokens  integer NOT NULL,
    output_tokens  integer NOT NULL,
    segments       integer NOT NULL,
    micros         integer,
    currency       text NOT NULL
);
CREATE INDEX costs_day ON costs (day);
CREATE INDEX costs_participant ON costs (participant_id, day);

-- state, spent and period_start are of the last sweep.
CREATE TABLE budgets (
    id             integer PRIMARY KEY AUTOINCREMENT,
    scope          text NOT NULL,
    participant_id text NOT NULL,
    period         text NOT NULL,
    micros         integer NOT NULL,
    warn_percent   integer NOT NULL,
    currency       text NOT NULL,
    state          text NOT NULL,
    spent          integer NOT NULL,
    period_start   text NOT NULL,
    created_by     text NOT NULL,
    updated_at     datetime NOT NULL
);
CREATE UNIQUE INDEX budgets_scope ON budgets (scope, participant_id, period);

INSERT INTO cost_queue (source, ref) SELECT 'step', turn_id || '/' || number FROM steps;
INSERT INTO cost_queue (source, ref) SELECT 'stage', turn_id || '/' || number FROM stages WHERE model <> '';
INSERT INTO cost_queue (source, ref) SELECT 'outbox', id FROM outbox WHERE provider_sid <> '';
INSERT INTO cost_queue (source, ref) SELECT 'inbound', CAST(id AS text) FROM inbound WHERE channel IN ('', 'sms');

-- +goose StatementBegin
CREATE TRIGGER steps_cost AFTER INSERT ON steps
BEGIN
    INSERT INTO cost_queue (source, ref) VALUES ('step', NEW.turn_id || '/' || NEW.number);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER stages_cost AFTER INSERT ON stages WHEN NEW.model <> ''
BEGIN
    INSERT INTO cost_queue (source, ref) VALUES ('stage', NEW.turn_id || '/' || NEW.number);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER outbox_cost AFTER UPDATE OF provider_sid ON outbox WHEN NEW.provider_sid <> '' AND OLD.provider_sid = ''
BEGIN
    INSERT INTO cost_queue (source, ref) VALUES ('outbox', NEW.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER inbound_cost AFTER INSERT ON inbound WHEN NEW.channel IN ('', 'sms')
BEGIN
    INSERT INTO cost_queue (source, ref) VALUES ('inbound', CAST(NEW.id AS text));
END;
-- +goose StatementEnd
