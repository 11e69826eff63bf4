import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type Actor, actorOf } from './actor.ts';
import type { Kind, KindTypes } from './kind.ts';
import { columnsOf } from './row.ts';

const { sql, raw, join } = Prisma;

/** Why a record changes: what is done, and by whom. */
export interface Cause {
  /** `create`, `update`, `delete`, `restore`, or the name of an action. */
  readonly action: string;
  readonly actor: Actor;
}

/** The cause of a change by a caller. */
export const causeOf = (caller: KindTypes['caller'], action: string): Cause => ({
  action,
  actor: actorOf(caller),
});

/** The record that a change was made to. */
export interface ChangedRecord {
  readonly table: string;
  /** SQL that selects its `id` and `version`, such as the name of a common table expression. */
  readonly from: Prisma.Sql;
  /** The changed fields as SQL of type `jsonb`: field -> [value before, value after]. Default: none. */
  readonly changes?: Prisma.Sql | undefined;
  /** SQL of the time. Default: now. Changes of a record with the same version must differ in it. */
  readonly at?: Prisma.Sql | undefined;
}

const NONE = sql`'{}'::jsonb`;
const NOW = sql`clock_timestamp()`;

/**
 * The INSERT that adds changes to the history. Make it part of the statement that changes the records, so that
 * it costs no round trip and cannot be left out.
 */
export const recordChanges = (
  { tenantId }: TenantDb,
  { action, actor }: Cause,
  { table, from, changes = NONE, at = NOW }: ChangedRecord,
): Prisma.Sql => sql`
  INSERT INTO tenant_crm.record_changes (tenant_id, table_name, record_id, changed_at, version, action,
    actor_type, user_id, client_id, token_id, impersonator_id, changes)
  SELECT ${tenantId}::uuid, ${table}::text, id, ${at}, version, ${action}::text,
    ${actor.type}::text, ${actor.userId}::uuid, ${actor.clientId}::text, ${actor.tokenId}::text,
    ${actor.impersonatorId}::text, ${changes} FROM ${from}`;

/** A field of the history, and where a row has its value. */
interface RecordedField {
  readonly field: string;
  readonly column: string;
  /** SQL of the value, given SQL of the column. */
  value(column: Prisma.Sql): Prisma.Sql;
  /** The same as responses show it. */
  shown(column: Prisma.Sql): Prisma.Sql;
}

const itself = (column: Prisma.Sql): Prisma.Sql => column;

const asTime = (column: Prisma.Sql): Prisma.Sql =>
  sql`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** How the history of an update is found. */
export interface Differences {
  /** What to select before the update: the columns of the kind, each as `former_<column>`. */
  readonly former: Prisma.Sql;
  /** The names of those that `changes` needs, and of the id. */
  readonly names: Prisma.Sql;
  /** The changed fields, from these and the columns after the update. */
  readonly changes: Prisma.Sql;
}

type RecordedKind = Pick<
  Kind,
  'answer' | 'computed' | 'hidden' | 'deletion' | 'parent' | 'jsonFields' | 'tenantFields'
>;

/**
 * The fields of responses that are stored in a column: neither hidden nor computed ones, nor those that every change sets,
 * nor those that the tenant has declared.
 */
const recordedFields = (kind: RecordedKind): RecordedField[] => {
  const { answer, hidden, jsonFields, tenantFields } = kind;
  const columns = columnsOf(kind);
  const everyChange = ['id', 'version', 'created_at', 'updated_at', 'deleted_at'];
  const own = Object.entries(answer.fields)
    .filter(([name]) => columns.has(name) && !Object.hasOwn(hidden, name))
    .filter(([name]) => !everyChange.includes(name) && name !== tenantFields?.column)
    .map(([name, { json }]): RecordedField => {
      const shown = json.format === 'date-time' ? asTime : itself;
      return { field: name, column: name, value: itself, shown };
    });
  const inJson = Object.entries(jsonFields).flatMap(([column, names]) =>
    names
      .filter((name) => Object.hasOwn(answer.fields, name))
      .map((name): RecordedField => {
        const value = (from: Prisma.Sql): Prisma.Sql => sql`${from} -> ${raw(`'${name}'`)}`;
        return { field: name, column, value, shown: value };
      }),
  );
  return [...own, ...inJson];
};

/** What the history of a record keeps when the record is deleted for good. */
export interface LastValues {
  /** The columns that `changes` needs. */
  readonly columns: Prisma.Sql;
  /** Each field with its last value and null. */
  readonly changes: Prisma.Sql;
}

/** Whether the deletion of a record for good has its last values. The others are known by the id of the history. */
export const keepsLastValues = ({
  deletion,
  key,
  parent,
}: Pick<Kind, 'deletion' | 'key' | 'parent'>): boolean =>
  deletion === 'permanent' && key !== 'id' && parent !== undefined;

/** The last values of a record: they tell which one it was, and below which parent. */
export const lastValuesOf = (kind: RecordedKind & Pick<Kind, 'key'>): LastValues | undefined => {
  const { parent } = kind;
  if (!parent || !keepsLastValues(kind)) return undefined;
  const { column } = parent;
  const fields = [
    ...recordedFields(kind).filter(({ field }) => field !== column),
    { field: column, column, shown: itself },
  ];
  const pairs = fields.map(
    ({ field, column: from, shown }) =>
      sql`${raw(`'${field}'`)}, jsonb_build_array(${shown(raw(from))}, NULL::text)`,
  );
  return {
    columns: raw([...new Set(fields.map(({ column: from }) => from))].join(', ')),
    changes: sql`jsonb_build_object(${join(pairs)})`,
  };
};

/**
 * Returns a function that compares columns before and after an update. Of the fields that the tenant has declared, each is
 * `<column>.<key>`.
 */
export const createDifferences = (
  kind: RecordedKind,
): ((columns: readonly string[]) => Differences) => {
  const { tenantFields } = kind;
  const all = recordedFields(kind);
  const columns = [...columnsOf(kind).keys()];
  const former = raw(columns.map((column) => `${column} AS former_${column}`).join(', '));

  const difference = ({ field, column, value, shown }: RecordedField): Prisma.Sql => {
    const [before, after] = [raw(`former_${column}`), raw(column)];
    return sql`CASE WHEN ${value(before)} IS DISTINCT FROM ${value(after)} THEN
      jsonb_build_object(${raw(`'${field}'`)}, jsonb_build_array(${shown(before)}, ${shown(after)}))
      ELSE '{}' END`;
  };

  /** The difference of each key. */
  const differencesWithin = (column: string): Prisma.Sql => {
    const [before, after] = [raw(`former_${column}`), raw(column)];
    return sql`CASE WHEN ${before} IS DISTINCT FROM ${after} THEN (
        SELECT coalesce(jsonb_object_agg(${`${column}.`}::text || key,
          jsonb_build_array(${before} -> key, ${after} -> key)), '{}')
        FROM jsonb_object_keys(${before} || ${after}) AS key
        WHERE ${before} -> key IS DISTINCT FROM ${after} -> key
      ) ELSE '{}' END`;
  };

  return (written) => {
    const fields = all.filter(({ column }) => written.includes(column));
    const declared = written.filter((column) => column === tenantFields?.column);
    const compared = [...new Set(['id', ...fields.map(({ column }) => column), ...declared])];
    const changes = [...fields.map(difference), ...declared.map(differencesWithin)];
    return {
      former,
      names: raw(compared.map((column) => `former_${column}`).join(', ')),
      changes: changes.length > 0 ? join(changes, ' || ') : NONE,
    };
  };
};
