-- +goose Up

-- One row a ticket, its latest revision. Screens of live tickets read the engine; this table answers looks back, so it
-- has no index on anything that an update changes, and an update finds room on its own page.
create table tickets (
    tenant            text        not null,
    id                text        not null,
    rev               bigint      not null,
    session           text        not null,
    lane              text        not null,
    status            text        not null,
    intent            text        not null default '',
    urgent            boolean     not null default false,
    route             text        not null default '',
    level             smallint    not null default 0,
    reason            text        not null default '',
    vendor            text        not null default '',
    model             text        not null default '',
    attempts          integer     not null default 0,
    prompt_tokens     bigint      not null default 0,
    completion_tokens bigint      not null default 0,
    queued_ms         bigint      not null default 0,
    handled_ms        bigint      not null default 0,
    accepted_at       timestamptz not null,
    ended_at          timestamptz,
    body              jsonb       not null,
    primary key (tenant, id)
) with (fillfactor = 80);

create index tickets_session on tickets (tenant, session, accepted_at);
create index tickets_accepted on tickets (tenant, accepted_at);
-- For retention, which asks for all tenants at once.
create index tickets_age on tickets using brin (accepted_at) with (autosummarize = on);

-- Append only. Months are attached by the recorder before they begin; there is no default partition, since rows in it
-- would stand in the way of attaching. at is the event's own time: a redelivered event meets its first row.
create table talk_events (
    tenant  text        not null,
    session text        not null,
    seq     bigint      not null,
    at      timestamptz not null,
    ticket  text        not null,
    kind    text        not null,
    who     text        not null,
    body    jsonb       not null,
    primary key (tenant, session, seq, at)
) partition by range (at);

-- +goose Down
drop table talk_events;
drop table tickets;
