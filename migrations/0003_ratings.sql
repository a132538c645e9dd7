-- +goose Up

-- What customers think of answers, from the events that tell of it: an answer is rated once.
create index talk_events_rating on talk_events (tenant, ticket) where kind = 'rating';
create index talk_events_rated on talk_events (at, ticket) where kind = 'rating';

create view ratings as
select
    e.tenant,
    e.ticket,
    e.session,
    (e.body -> 'rating' ->> 'score')::smallint      as score,
    coalesce(e.body -> 'rating' ->> 'comment', '')  as comment,
    e.at,
    coalesce(t.route, '')                           as route,
    coalesce(t.intent, '')                          as intent,
    coalesce(t.lane, '')                            as lane
from talk_events e
left join tickets t on t.tenant = e.tenant and t.id = e.ticket
where e.kind = 'rating';

-- A day is one of UTC. bad: scores of 1 and 2.
create view rating_days as
select
    tenant,
    route,
    (at at time zone 'UTC')::date           as day,
    count(*)                                as ratings,
    round(avg(score), 2)                    as score,
    count(*) filter (where score <= 2)      as bad
from ratings
group by tenant, route, day;

-- +goose Down
drop view rating_days;
drop view ratings;
drop index talk_events_rated;
drop index talk_events_rating;
