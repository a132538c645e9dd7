-- +goose Up

-- For operators' searches over all tenants, newest first. What is rare among all tickets (another end than an answer, a
-- reason) has an index of its own; what is common is found soon enough on the way down tickets_newest.
create index tickets_newest on tickets (accepted_at, id);
create index tickets_id on tickets (id);
create index tickets_talk on tickets (session, accepted_at, id);
create index tickets_route on tickets (route, accepted_at, id);
create index tickets_reason on tickets (reason, accepted_at, id) where reason <> '';
create index tickets_unanswered on tickets (status, accepted_at, id) where status <> 'answered';
-- In place of tickets_accepted, with the order inside one microsecond as well.
create index tickets_of_tenant on tickets (tenant, accepted_at, id);
drop index tickets_accepted;

-- +goose Down
create index tickets_accepted on tickets (tenant, accepted_at);
drop index tickets_of_tenant;
drop index tickets_unanswered;
drop index tickets_reason;
drop index tickets_route;
drop index tickets_talk;
drop index tickets_id;
drop index tickets_newest;
