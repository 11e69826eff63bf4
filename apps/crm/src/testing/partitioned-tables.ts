import pg from 'pg';

/**
 * Whether the tests run on partitioned tables (`npm run test:partitions`). Row-level security is off for them,
 * because its policies would let the planner find the partition even if a statement forgets the tenant.
 */
export const onPartitions = process.env.TEST_CRM_TABLES === 'partitioned';

/**
 * Emulates `distribute` of Citus with hash partitions: replaces an empty table by one of the same name that is
 * partitioned by tenant, with the same keys, indexes, triggers, policies and privileges. Functions that return its rows
 * are made again.
 */
const DISTRIBUTE = `
CREATE OR REPLACE FUNCTION tenant_crm.distribute(distributed regclass) RETURNS void LANGUAGE plpgsql
SET search_path = '' AS $distribute$
DECLARE
  name text := (SELECT relname FROM pg_class WHERE oid = distributed);
  sequences regclass[] := ARRAY(
    SELECT objid FROM pg_depend WHERE refobjid = distributed AND refobjsubid > 0 AND deptype = 'a'
      AND EXISTS (SELECT FROM pg_sequence WHERE seqrelid = objid)
  );
  -- Before PostgreSQL 17 a partitioned table cannot have an exclusion constraint, but its partitions can.
  on_whole boolean := current_setting('server_version_num')::int >= 170000;
  exclusions text[] := ARRAY(
    SELECT format('ALTER TABLE tenant_crm.%%I ADD CONSTRAINT %I %s', conname || '_10200%s', pg_get_constraintdef(oid))
    FROM pg_constraint WHERE conrelid = distributed AND contype = 'x' AND NOT on_whole
  );
  -- What stands on the table, as the statements that make it.
  definitions text[] := ARRAY(
    SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint
    WHERE (conrelid = distributed OR confrelid = distributed) AND contype IN ('p', 'u', 'x', 'f') AND conparentid = 0
      AND (contype <> 'x' OR on_whole)
    ORDER BY contype = 'f'
  ) || ARRAY(
    SELECT pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid = distributed AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
  ) || ARRAY(
    SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = distributed AND NOT tgisinternal
  ) || ARRAY(
    SELECT format('CREATE POLICY %I ON %I.%I AS %s FOR %s TO %s', policyname, schemaname, tablename, permissive, cmd,
      (SELECT string_agg(CASE role WHEN 'public' THEN 'PUBLIC' ELSE quote_ident(role) END, ', ') FROM unnest(roles) AS role)
    ) || coalesce(' USING (' || qual || ')', '') || coalesce(' WITH CHECK (' || with_check || ')', '')
    FROM pg_policies WHERE schemaname = 'tenant_crm' AND tablename = name
  ) || ARRAY(
    SELECT format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', distributed) FROM pg_class
    WHERE oid = distributed AND relrowsecurity
  ) || ARRAY(
    SELECT format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', distributed) FROM pg_class
    WHERE oid = distributed AND relforcerowsecurity
  ) || ARRAY(
    SELECT format('GRANT %s ON %s TO %s', privilege_type, distributed,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
    FROM pg_class, aclexplode(relacl) WHERE oid = distributed
  ) || ARRAY(
    SELECT pg_get_functiondef(proc.oid)
    FROM pg_proc AS proc JOIN pg_class AS own ON own.reltype = proc.prorettype WHERE own.oid = distributed
  ) || ARRAY(
    SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', proc.oid::regprocedure)
    FROM pg_proc AS proc JOIN pg_class AS own ON own.reltype = proc.prorettype
    WHERE own.oid = distributed AND proc.proacl IS NOT NULL
      AND NOT EXISTS (SELECT FROM aclexplode(proc.proacl) WHERE grantee = 0)
  ) || ARRAY(
    -- For the view, which goes with the former table.
    SELECT format('SELECT tenant_crm.protect(%L)', distributed) FROM pg_class
    WHERE oid = distributed AND relrowsecurity
  );
  definition text;
  holds_rows boolean;
  sequence regclass;
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE oid = distributed AND relkind = 'p') THEN RETURN; END IF;
  EXECUTE format('SELECT EXISTS (SELECT FROM %s)', distributed) INTO holds_rows;
  IF holds_rows THEN RAISE EXCEPTION '% has rows', name; END IF;
  FOREACH sequence IN ARRAY sequences LOOP
    EXECUTE format('ALTER SEQUENCE %s OWNED BY NONE', sequence);
  END LOOP;
  EXECUTE format('ALTER TABLE %s RENAME TO former_table', distributed);
  EXECUTE format('CREATE TABLE tenant_crm.%I (LIKE tenant_crm.former_table
    INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS INCLUDING STORAGE
  ) PARTITION BY HASH (tenant_id)', name);
  DROP TABLE tenant_crm.former_table CASCADE;
  -- See the migration large_tenants.
  EXECUTE format('ALTER TABLE tenant_crm.%I ALTER COLUMN tenant_id SET (n_distinct = 50)', name);
  FOR remainder IN 0..7 LOOP
    EXECUTE format('CREATE TABLE tenant_crm.%I PARTITION OF tenant_crm.%I FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
      name || '_p' || remainder, name, remainder);
    EXECUTE format('ALTER TABLE tenant_crm.%I ALTER COLUMN tenant_id SET (n_distinct = 50)', name || '_p' || remainder);
    FOREACH definition IN ARRAY exclusions LOOP
      EXECUTE format(replace(definition, '_10200%s', '_10200' || remainder), name || '_p' || remainder);
    END LOOP;
  END LOOP;
  FOREACH definition IN ARRAY definitions LOOP
    EXECUTE definition;
  END LOOP;
END $distribute$`;

/** Renames the indexes of partitions as Citus names those of shards: with a six-digit suffix. */
const NAMES = [
  `CREATE FUNCTION tenant_crm.name_partitions() RETURNS event_trigger LANGUAGE plpgsql AS $$
   DECLARE
     partition record;
   BEGIN
     FOR partition IN
       SELECT inhrelid::regclass AS index, whole.relname || '_10200' || right(owner.relname, 1) AS name
       FROM pg_inherits JOIN pg_class AS whole ON whole.oid = inhparent JOIN pg_index ON indexrelid = inhrelid
       JOIN pg_class AS owner ON owner.oid = indrelid JOIN pg_class AS own ON own.oid = inhrelid
       WHERE whole.relnamespace = 'tenant_crm'::regnamespace
         AND own.relname <> whole.relname || '_10200' || right(owner.relname, 1)
     LOOP
       EXECUTE format('ALTER INDEX %s RENAME TO %I', partition.index, partition.name);
     END LOOP;
   END $$`,
  `CREATE EVENT TRIGGER name_partitions ON ddl_command_end WHEN TAG IN ('CREATE INDEX', 'ALTER TABLE')
   EXECUTE FUNCTION tenant_crm.name_partitions()`,
];

const ALL_TABLES = `SELECT tenant_crm.distribute(oid) FROM pg_class
  WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind = 'r' AND NOT relispartition`;

const run = async (url: string, statements: readonly string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
};

/** Partitions the tables of a migrated database without rows, and all tables that are distributed later. */
export const partitionTables = (url: string): Promise<void> =>
  run(url, [DISTRIBUTE, ...NAMES, ALL_TABLES]);

/**
 * Makes the server send the plan of each statement, including statements in functions, to the client. `further`
 * settings apply to all statements of the database.
 */
export const sendPlans = (
  url: string,
  further: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
  };
  const database = pg.escapeIdentifier(decodeURIComponent(new URL(url).pathname.slice(1)));
  // The settings exist only after the library is loaded.
  return run(url, [
    "LOAD 'auto_explain'",
    ...[...Object.entries(settings), ...Object.entries(further)].map(
      ([name, value]) => `ALTER DATABASE ${database} SET ${name} = '${value}'`,
    ),
  ]);
};
