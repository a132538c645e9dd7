-- +goose Up

-- How each promise stands, from the events that tell of it: the newest one of its follow-up, which is its id. The tickets
-- have parent and follow_up in their bodies.
create index talk_events_promise on talk_events (tenant, ticket, seq) where kind = 'promise';

create view promises as
select distinct on (tenant, ticket)
    tenant,
    ticket                                              as id,
    body ->> 'parent'                                   as parent,
    session,
    body -> 'promise' ->> 'channel'                     as channel,
    body -> 'promise' ->> 'status'                      as status,
    (body -> 'promise' ->> 'due_at')::timestamptz       as due_at,
    at,
    body -> 'promise'                                   as promise
from talk_events
where kind = 'promise'
order by tenant, ticket, seq desc;

-- +goose Down
drop view promises;
drop index talk_events_promise;
