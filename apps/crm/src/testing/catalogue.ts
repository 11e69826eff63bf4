import type { Pool } from 'pg';

/** The tables of tenants, without their partitions. */
const TABLES = `tables AS (
  SELECT oid, relname AS name FROM pg_class
  WHERE relnamespace = 'tenant_crm'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
), columns AS (
  SELECT attrelid AS relation, attnum AS number, attname AS name, atttypid::regtype::text AS type, attnotnull AS required
  FROM pg_attribute JOIN tables ON tables.oid = attrelid WHERE attnum > 0 AND NOT attisdropped
), keys AS (
  SELECT tables.oid AS relation, tables.name AS table_name, index.relname AS name, indisprimary AS is_primary,
    indisexclusion AS is_exclusion, ARRAY(
      SELECT coalesce(columns.name, '<expression>') FROM unnest(indkey[0:indnkeyatts - 1]) WITH ORDINALITY AS key (number, place)
      LEFT JOIN columns ON relation = tables.oid AND columns.number = key.number ORDER BY place
    ) AS columns
  FROM pg_index JOIN tables ON tables.oid = indrelid JOIN pg_class AS index ON index.oid = indexrelid
  WHERE indisunique OR indisexclusion
), references_made AS (
  SELECT tables.oid AS relation, tables.name AS table_name, conname AS name, confdeltype AS on_delete, confupdtype AS on_update,
    ARRAY(
      SELECT here.name || '=' || there.attname FROM unnest(conkey, confkey) AS pair (here_number, there_number)
      JOIN columns AS here ON here.relation = conrelid AND here.number = here_number
      JOIN pg_attribute AS there ON there.attrelid = confrelid AND there.attnum = there_number
    ) AS pairs,
    ARRAY(
      SELECT columns.name FROM unnest(conkey) WITH ORDINALITY AS key (number, place)
      JOIN columns ON columns.relation = conrelid AND columns.number = key.number
      WHERE columns.name <> 'tenant_id' ORDER BY place
    ) AS columns
  FROM pg_constraint JOIN tables ON tables.oid = conrelid WHERE contype = 'f' AND conparentid = 0
)`;

/** A query for each rule that returns its violations. */
const RULES = [
  `SELECT format('%s: tenant_id must be uuid NOT NULL', name) FROM tables WHERE NOT EXISTS (
    SELECT FROM columns WHERE relation = oid AND columns.name = 'tenant_id' AND type = 'uuid' AND required)`,
  `SELECT format('%s: id must be uuid', tables.name) FROM tables
   JOIN columns ON relation = oid AND columns.name = 'id' AND type <> 'uuid'`,
  `SELECT format('%s: there is no primary key', name) FROM tables
   WHERE NOT EXISTS (SELECT FROM keys WHERE relation = oid AND is_primary)`,
  `SELECT format('%s: the primary key must be (tenant_id, id)', table_name) FROM keys
   WHERE is_primary AND keys.columns <> ARRAY['tenant_id', 'id']::name[]
     AND EXISTS (SELECT FROM columns WHERE columns.relation = keys.relation AND columns.name = 'id')`,
  `SELECT format('%s: %s lacks tenant_id', table_name, name) FROM keys WHERE 'tenant_id' <> ALL (keys.columns)`,
  `SELECT format('%s: %s must be named %s', table_name, name, expected) FROM keys CROSS JOIN LATERAL (
     SELECT format('%s_%s_%s', table_name, array_to_string(array_remove(keys.columns, 'tenant_id'), '_'),
       CASE WHEN is_exclusion THEN 'excl' ELSE 'key' END)
   ) AS named (expected)
   WHERE NOT is_primary AND name <> expected AND '<expression>' <> ALL (keys.columns)`,
  // A constraint or index on an expression is named after the field.
  `SELECT format('%s: %s must be named %s_<column>_%s', table_name, name, table_name, suffix) FROM keys
   CROSS JOIN LATERAL (SELECT CASE WHEN is_exclusion THEN 'excl' ELSE 'key' END) AS named (suffix)
   WHERE '<expression>' = ANY (keys.columns) AND NOT EXISTS (
     SELECT FROM columns WHERE columns.relation = keys.relation
       AND keys.name = table_name || '_' || columns.name || '_' || suffix)`,
  `SELECT format('%s: %s lacks tenant_id', table_name, name) FROM references_made
   WHERE 'tenant_id=tenant_id' <> ALL (pairs)`,
  `SELECT format('%s: %s must be named %s', table_name, name, expected) FROM references_made CROSS JOIN LATERAL (
     SELECT format('%s_%s_fkey', table_name, array_to_string(references_made.columns, '_'))
   ) AS named (expected) WHERE name <> expected`,
  `SELECT format('%s: %s sets columns to null or to their default', table_name, name) FROM references_made
   WHERE on_delete IN ('n', 'd') OR on_update IN ('n', 'd')`,
  `SELECT format('%s: %s must be named %s_<column>_check', tables.name, conname, tables.name) FROM pg_constraint
   JOIN tables ON tables.oid = conrelid WHERE contype = 'c' AND NOT EXISTS (
     SELECT FROM columns WHERE relation = conrelid AND conname = tables.name || '_' || columns.name || '_check')`,
  `SELECT format('%s: sequences must be bigint', relname) FROM pg_sequence
   JOIN pg_class ON pg_class.oid = seqrelid
   WHERE relnamespace = 'tenant_crm'::regnamespace AND seqtypid <> 'bigint'::regtype`,
  `SELECT format('%s: %s has a sequence and must be bigint', tables.name, columns.name) FROM tables
   JOIN columns ON relation = oid AND type <> 'bigint'
   JOIN pg_depend ON refobjid = oid AND refobjsubid = number AND deptype IN ('a', 'i')
   JOIN pg_sequence ON seqrelid = objid`,
  `SELECT format('%s: the trigger %s is not of keep_count, keep_tag_counts or refer', tables.name, tgname) FROM pg_trigger
   JOIN tables ON tables.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
   WHERE NOT tgisinternal AND pronamespace::regnamespace::text || '.' || proname <> ALL (
     ARRAY['tenant_crm.count_' || tables.name, 'tenant_crm.count_tags_' || tables.name,
       CASE WHEN tables.name = 'record_changes' THEN 'tenant_crm.add_to_outbox' ELSE '' END] || ARRAY(
       SELECT 'tenant_crm.' || left(name, -length('_fkey')) FROM references_made
       WHERE references_made.relation = tables.oid))`,
];

/** The violations of the rules for tables (migration `tenant_keys`) in the schema `tenant_crm`. */
export const brokenTableRules = async (pool: Pool): Promise<string[]> => {
  const { rows } = await pool.query<{ broken: string }>(
    `WITH ${TABLES} SELECT broken FROM (${RULES.join(' UNION ALL ')}) AS found (broken)`,
  );
  return rows.map(({ broken }) => broken).sort();
};
