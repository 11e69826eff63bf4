-- A row that refers to a record which another transaction locks FOR UPDATE, as a merge of contacts does, is checked
-- after that transaction: it would otherwise refer to a record that has been deleted meanwhile.

-- refer(table, column, target): makes a column refer to rows of the same tenant in another table, by the foreign
-- key <table>_<column>_fkey. Where the target has deleted_at, a row that is deleted can no longer be referred to
-- (an error with the name of that key); references that exist stay, so that all is as it was when the row is
-- restored. The check takes the lock that the foreign key takes at the end of the statement in any case: it does not
-- wait for a deletion, and a row that is deleted at the same moment counts as deleted afterwards. Called again, it
-- replaces the check.
CREATE OR REPLACE FUNCTION tenant_crm.refer(referring regclass, field text, target regclass) RETURNS void
LANGUAGE plpgsql AS $refer$
DECLARE
  name text := (SELECT relname FROM pg_class WHERE oid = referring) || '_' || field;
  key text := name || '_fkey';
  -- In the words of PostgreSQL: of an error on another server of a Citus cluster only the message arrives.
  message text := format('%s is deleted: this violates foreign key constraint "%s"', field, key);
  find_deleted text := format('SELECT deleted_at IS NOT NULL INTO is_deleted FROM %s
    WHERE tenant_id = NEW.tenant_id AND id = NEW.%I FOR KEY SHARE', target, field);
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = referring AND conname = key) THEN
    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I FOREIGN KEY (tenant_id, %I)
      REFERENCES %s (tenant_id, id)', referring, key, field, target);
  END IF;
  IF NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = target AND attname = 'deleted_at' AND NOT attisdropped
  ) THEN
    RETURN;
  END IF;
  IF tenant_crm.extension_home('citus') IS NOT NULL THEN
    find_deleted := format($find$EXECUTE format('SELECT deleted_at IS NOT NULL FROM %%s
        WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE', tenant_crm.shard_of(%L, NEW.tenant_id))
        INTO is_deleted USING NEW.tenant_id, NEW.%I$find$,
      (SELECT relname FROM pg_class WHERE oid = target), field);
  END IF;
  EXECUTE format($make$
    CREATE OR REPLACE FUNCTION tenant_crm.%1$I() RETURNS trigger LANGUAGE plpgsql AS $check$
    DECLARE
      is_deleted boolean;
    BEGIN
      IF TG_OP = 'INSERT' OR NEW.%2$I IS DISTINCT FROM OLD.%2$I THEN
        %3$s;
        IF is_deleted THEN
          RAISE foreign_key_violation USING CONSTRAINT = %4$L, MESSAGE = %5$L;
        END IF;
      END IF;
      RETURN NEW;
    END $check$
    $make$, name, field, find_deleted, key, message);
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = referring AND tgname = name) THEN
    EXECUTE format('CREATE TRIGGER %1$I BEFORE INSERT OR UPDATE OF %2$I ON %3$s
      FOR EACH ROW WHEN (NEW.%2$I IS NOT NULL) EXECUTE FUNCTION tenant_crm.%1$I()', name, field, referring);
  END IF;
END $refer$;

-- The references that exist.
DO $$
DECLARE
  reference record;
BEGIN
  FOR reference IN
    SELECT conrelid::regclass AS referring, attname::text AS field, confrelid::regclass AS target
    FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey) AND attname <> 'tenant_id'
    WHERE contype = 'f' AND conparentid = 0 AND connamespace = 'tenant_crm'::regnamespace
    ORDER BY conname
  LOOP
    PERFORM tenant_crm.refer(reference.referring, reference.field, reference.target);
  END LOOP;
END $$;

-- As for tasks and projects: only values that the service knows.
ALTER TABLE tenant_crm.communication_logs ADD CONSTRAINT communication_logs_kind_check
  CHECK (kind IN ('call', 'email', 'meeting', 'note', 'sms'));
ALTER TABLE tenant_crm.communication_logs ADD CONSTRAINT communication_logs_direction_check
  CHECK (direction IN ('inbound', 'outbound'));
ALTER TABLE tenant_crm.leave_requests ADD CONSTRAINT leave_requests_kind_check
  CHECK (kind IN ('vacation', 'sick', 'unpaid', 'other'));
ALTER TABLE tenant_crm.leave_requests ADD CONSTRAINT leave_requests_status_check
  CHECK (status IN ('pending', 'approved', 'rejected', 'cancelled'));
