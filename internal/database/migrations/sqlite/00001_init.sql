-- +goose Up
CREATE TABLE participants (
    id           text PRIMARY KEY,
    phone        text NOT NULL,
    phone_index  text NOT NULL,
    name         text NOT NULL,
    gender       text NOT NULL,
    ethnicity    text NOT NULL,
    background   text NOT NULL,
    timezone     text NOT NULL,
    zone_assumed boolean NOT NULL,
    locale       text NOT NULL,
    channel      text NOT NULL,
    status       text NOT NULL,
    mode         text NOT NULL,
    tester       boolean NOT NULL,
    debug        boolean NOT NULL,
    next_seq     integer NOT NULL,
    enrolled_at  datetime NOT NULL,
    created_at   datetime NOT NULL,
    updated_at   datetime NOT NULL,
    removed_at   datetime,
    version      integer NOT NULL
);
CREATE UNIQUE INDEX participants_phone ON participants (phone_index) WHERE removed_at IS NULL;

CREATE TABLE profiles (
    participant_id         text PRIMARY KEY REFERENCES participants (id),
    habit_domain           text NOT NULL,
    motivational_frame     text NOT NULL,
    preferred_time         text NOT NULL,
    prompt_anchor          text NOT NULL,
    additional_info        text NOT NULL,
    last_successful_prompt text NOT NULL,
    last_barrier           text NOT NULL,
    last_motivator         text NOT NULL,
    last_tweak             text NOT NULL,
    last_habit_prompt      text NOT NULL,
    prepared_prompt        text NOT NULL,
    tone                   text NOT NULL,
    success_count          integer NOT NULL,
    total_prompts          integer NOT NULL,
    last_prompt_sent_at    datetime,
    updated_at             datetime NOT NULL,
    version                integer NOT NULL
);

CREATE TABLE messages (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL REFERENCES participants (id),
    turn_id        text NOT NULL,
    key            text NOT NULL,
    role           text NOT NULL,
    kind           text NOT NULL,
    text           text NOT NULL,
    outbox_id      text NOT NULL,
    at             datetime NOT NULL
);
CREATE UNIQUE INDEX messages_key ON messages (participant_id, key);
CREATE INDEX messages_order ON messages (participant_id, id);

-- participant_id is empty for senders who are not enrolled, so it refers to nothing.
CREATE TABLE inbound (
    id             integer PRIMARY KEY AUTOINCREMENT,
    provider_sid   text NOT NULL,
    participant_id text NOT NULL,
    seq            integer NOT NULL,
    "from"         text NOT NULL,
    "to"           text NOT NULL,
    body           text NOT NULL,
    media_count    integer NOT NULL,
    received_at    datetime NOT NULL
);
CREATE UNIQUE INDEX inbound_provider ON inbound (provider_sid);
CREATE UNIQUE INDEX inbound_seq ON inbound (participant_id, seq) WHERE participant_id <> '';

CREATE TABLE outbox (
    id             text PRIMARY KEY,
    participant_id text NOT NULL REFERENCES participants (id),
    turn_id        text NOT NULL,
    part           integer NOT NULL,
    kind           text NOT NULL,
    prompt_id      text NOT NULL,
    body           text NOT NULL,
    status         text NOT NULL,
    provider_sid   text NOT NULL,
    error_code     text NOT NULL,
    attempts       integer NOT NULL,
    created_at     datetime NOT NULL,
    attempted_at   datetime,
    accepted_at    datetime,
    updated_at     datetime NOT NULL
);
CREATE INDEX outbox_participant ON outbox (participant_id, status);
CREATE INDEX outbox_turn ON outbox (turn_id, part);
CREATE UNIQUE INDEX outbox_provider ON outbox (provider_sid) WHERE provider_sid <> '';

CREATE TABLE prompts (
    id               text PRIMARY KEY,
    participant_id   text NOT NULL REFERENCES participants (id),
    schedule_id      text NOT NULL,
    local_date       text NOT NULL,
    target_at        datetime NOT NULL,
    state            text NOT NULL,
    reason           text NOT NULL,
    sent_at          datetime,
    responded_at     datetime,
    reminder_sent_at datetime,
    counted          boolean NOT NULL
);
CREATE UNIQUE INDEX prompts_slot ON prompts (participant_id, schedule_id, local_date);

CREATE TABLE schedules (
    participant_id text NOT NULL REFERENCES participants (id),
    id             text NOT NULL,
    type           text NOT NULL,
    at             text NOT NULL,
    from_time      text NOT NULL,
    to_time        text NOT NULL,
    zone           text NOT NULL,
    next_at        datetime,
    updated_at     datetime NOT NULL,
    PRIMARY KEY (participant_id, id)
);

CREATE TABLE turns (
    id             text PRIMARY KEY,
    participant_id text NOT NULL REFERENCES participants (id),
    number         integer NOT NULL,
    kind           text NOT NULL,
    mode           text NOT NULL,
    prompt_id      text NOT NULL,
    prompt_version text NOT NULL,
    outcome        text NOT NULL,
    started_at     datetime NOT NULL,
    finished_at    datetime
);
CREATE INDEX turns_participant ON turns (participant_id, number);

CREATE TABLE steps (
    turn_id        text NOT NULL REFERENCES turns (id),
    number         integer NOT NULL,
    after_message  integer NOT NULL,
    text           text NOT NULL,
    calls          text NOT NULL,
    finish_reason  text NOT NULL,
    model          text NOT NULL,
    prompt_version text NOT NULL,
    usage          text NOT NULL,
    created_at     datetime NOT NULL,
    PRIMARY KEY (turn_id, number)
);

CREATE TABLE tool_runs (
    turn_id    text NOT NULL REFERENCES turns (id),
    step       integer NOT NULL,
    call       integer NOT NULL,
    name       text NOT NULL,
    result     text NOT NULL,
    failed     boolean NOT NULL,
    created_at datetime NOT NULL,
    PRIMARY KEY (turn_id, step, call)
);

CREATE TABLE notices (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL REFERENCES participants (id),
    kind           text NOT NULL,
    ref            text NOT NULL,
    seq            integer NOT NULL,
    created_at     datetime NOT NULL,
    delivered_at   datetime
);
CREATE INDEX notices_waiting ON notices (id) WHERE delivered_at IS NULL;
CREATE INDEX notices_waiting_of ON notices (participant_id, id) WHERE delivered_at IS NULL;

-- Kept whatever becomes of the participant, so it refers to nothing.
CREATE TABLE audit (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL,
    actor          text NOT NULL,
    action         text NOT NULL,
    detail         text NOT NULL,
    at             datetime NOT NULL
);
CREATE INDEX audit_participant ON audit (participant_id, id);
