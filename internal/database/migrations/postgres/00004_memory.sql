-- +goose Up
-- What is remembered of a person. A forgotten fact leaves its row, without kind,
-- text and vector: its id is not given out again, and the turn that stored it
-- does not store it a second time.
CREATE TABLE facts (
    participant_id text NOT NULL REFERENCES participants (id),
    id             text NOT NULL,
    kind           text NOT NULL,
    text           text NOT NULL,
    vector         bytea NOT NULL,
    source_id      bigint NOT NULL,
    turn_id        text NOT NULL,
    version        bigint NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    deleted_at     timestamptz,
    PRIMARY KEY (participant_id, id)
);
-- Sealed bytes do not compress.
ALTER TABLE facts ALTER COLUMN vector SET STORAGE EXTERNAL;

CREATE TABLE fact_versions (
    participant_id text NOT NULL,
    fact_id        text NOT NULL,
    version        bigint NOT NULL,
    kind           text NOT NULL,
    text           text NOT NULL,
    source_id      bigint NOT NULL,
    turn_id        text NOT NULL,
    at             timestamptz NOT NULL,
    PRIMARY KEY (participant_id, fact_id, version),
    FOREIGN KEY (participant_id, fact_id) REFERENCES facts (participant_id, id)
);

CREATE TABLE notes (
    participant_id text NOT NULL REFERENCES participants (id),
    local_date     text NOT NULL,
    text           text NOT NULL,
    upto_message   bigint NOT NULL,
    version        bigint NOT NULL,
    updated_at     timestamptz NOT NULL,
    PRIMARY KEY (participant_id, local_date)
);

CREATE TABLE summaries (
    participant_id text PRIMARY KEY REFERENCES participants (id),
    text           text NOT NULL,
    upto_message   bigint NOT NULL,
    version        bigint NOT NULL,
    updated_at     timestamptz NOT NULL
);

CREATE TABLE stages (
    turn_id    text NOT NULL REFERENCES turns (id),
    number     bigint NOT NULL,
    name       text NOT NULL,
    decision   text NOT NULL,
    input_hash text NOT NULL,
    output     text NOT NULL,
    model      text NOT NULL,
    usage      text NOT NULL,
    millis     bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (turn_id, number)
);

-- About models, not about people.
CREATE TABLE capabilities (
    model          text NOT NULL,
    endpoint       text NOT NULL,
    protocol       text NOT NULL,
    size           text NOT NULL,
    context_tokens bigint NOT NULL,
    reason         text NOT NULL,
    learnt_at      timestamptz NOT NULL,
    PRIMARY KEY (model, endpoint)
);
