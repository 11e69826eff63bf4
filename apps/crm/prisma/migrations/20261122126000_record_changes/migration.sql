-- The history of records: one row for each change. The statement that changes a record writes it (see
-- src/records/repository.ts), so that both commit together. Rows are never changed, and are kept after the
-- record is deleted.

CREATE TABLE tenant_crm.record_changes (
  tenant_id uuid NOT NULL,
  -- The table of the record.
  table_name text NOT NULL,
  record_id uuid NOT NULL,
  -- Read while the row of the record is locked: changes of one record are in this order.
  changed_at timestamptz(3) NOT NULL,
  -- The version of the record that the change made.
  version integer NOT NULL,
  -- `create`, `update`, `delete`, `restore`, or the name of an action.
  action text NOT NULL,
  -- `user`, `service_account`, `client`, or `system`.
  actor_type text NOT NULL,
  user_id uuid,
  client_id text,
  token_id text,
  impersonator_id text,
  -- Field -> [value before, value after].
  changes jsonb NOT NULL,
  CONSTRAINT record_changes_pkey PRIMARY KEY (tenant_id, table_name, record_id, changed_at, version)
);
SELECT tenant_crm.distribute('tenant_crm.record_changes');
SELECT tenant_crm.protect('tenant_crm.record_changes');
