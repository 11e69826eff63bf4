import { randomUUID } from 'node:crypto';
import { type CatalogueColumn, type CatalogueTable, readTables } from '@tessera/database-kit';
import pg from 'pg';
import { eventOf } from '../../events/event-types.ts';
import { directKeyOf } from '../../features/chat/direct-key.ts';
import {
  type ChangedRow,
  type ErasureOptions,
  publishChanges,
  recordUpdates,
} from './recorded-changes.ts';
import { userColumns } from './user-columns.ts';

const { escapeIdentifier: quoted } = pg;

/** The new value of a column, and whether it changes: $1 is the user, $2 the pseudonym. */
const replacement = ({ name, type }: CatalogueColumn) => {
  const column = quoted(name);
  if (type === 'uuid') {
    if (!userColumns.includes(name)) return undefined;
    return {
      value: `CASE WHEN ${column} = $1::uuid THEN $2::uuid ELSE ${column} END`,
      condition: `${column} = $1::uuid`,
    };
  }
  if (type === 'uuid[]') {
    return {
      value: `array_replace(${column}, $1::uuid, $2::uuid)`,
      condition: `${column} @> ARRAY[$1::uuid]`,
    };
  }
  if (!['text', 'text[]', 'json', 'jsonb'].includes(type)) return undefined;
  // Mentions in texts may have capitals. An id has no characters that are special in regular expressions.
  return {
    value: `regexp_replace(${column}::text, $1::text, $2::text, 'gi')::${type}`,
    condition: `strpos(lower(${column}::text), $1::text) > 0`,
  };
};

/** The columns of every table of records, of which each change makes a version. */
const recordColumns = ['id', 'version', 'updated_at'];

/**
 * Replaces the user in every column of a table; returns the number of changed rows. For records it is an update by CRM
 * itself, so that whoever has a copy of them reads them again.
 */
const replaceUser = async (
  client: pg.Client,
  { name, columns }: CatalogueTable,
  [userId, pseudonym]: readonly [string, string],
): Promise<number> => {
  const changes = columns.flatMap((column) => {
    const change = column.isGenerated ? undefined : replacement(column);
    return change ? [{ column: quoted(column.name), ...change }] : [];
  });
  if (changes.length === 0) return 0;
  const isRecord = recordColumns.every((own) => columns.some((column) => column.name === own));
  const settings = [
    ...changes.map(({ column, value }) => `${column} = ${value}`),
    ...(isRecord ? ['version = version + 1', 'updated_at = now()'] : []),
  ];
  const hasHistory = isRecord && eventOf(name, 'update') !== undefined;
  const { rowCount, rows } = await client.query<ChangedRow>(
    `UPDATE tenant_crm.${quoted(name)} SET ${settings.join(', ')}
     WHERE ${changes.map(({ condition }) => condition).join(' OR ')}
     ${hasHistory ? 'RETURNING tenant_id, id, version' : ''}`,
    [userId, pseudonym],
  );
  if (hasHistory) await recordUpdates(client, name, rows);
  return rowCount ?? 0;
};

/** Deletes what is about the user as a person and not needed without them. */
const deletePersonal = async (client: pg.Client, userId: string): Promise<void> => {
  await client.query(
    `DELETE FROM tenant_crm.idempotency_keys
     WHERE strpos(lower(caller), $1) > 0 OR strpos(lower(body::text), $1) > 0`,
    [userId],
  );
  // Reasons of absences may tell of illnesses.
  await client.query(
    `UPDATE tenant_crm.record_changes AS change SET changes = changes - 'reason' - 'review_comment'
     FROM tenant_crm.leave_requests AS request
     WHERE change.tenant_id = request.tenant_id AND change.table_name = 'leave_requests'
       AND change.record_id = request.id AND request.user_id = $1`,
    [userId],
  );
  const { rows } = await client.query<ChangedRow>(
    `UPDATE tenant_crm.leave_requests
     SET reason = NULL, review_comment = NULL, version = version + 1, updated_at = now()
     WHERE user_id = $1 AND (reason IS NOT NULL OR review_comment IS NOT NULL)
     RETURNING tenant_id, id, version`,
    [userId],
  );
  await recordUpdates(client, 'leave_requests', rows, ['reason', 'review_comment']);
};

/**
 * Gives direct channels the key of their present people. The old one was made of the user's id, so that whoever knows
 * that would find the channel, and with it the pseudonym.
 */
const renewDirectKeys = async (client: pg.Client, pseudonym: string): Promise<void> => {
  const { rows } = await client.query<{ tenant_id: string; id: string; people: string[] }>(
    `SELECT channel.tenant_id, channel.id, array_agg(person.user_id::text) AS people
     FROM tenant_crm.channels AS channel JOIN tenant_crm.channel_participants AS person
       ON person.tenant_id = channel.tenant_id AND person.channel_id = channel.id
     WHERE channel.kind = 'direct'
     GROUP BY channel.tenant_id, channel.id HAVING bool_or(person.user_id = $1)`,
    [pseudonym],
  );
  for (const { tenant_id, id, people } of rows) {
    await client.query(
      'UPDATE tenant_crm.channels SET direct_key = $3 WHERE tenant_id = $1 AND id = $2',
      [tenant_id, id, directKeyOf(people)],
    );
  }
};

/**
 * Erases a user from all tenants in one transaction: every occurrence of their id, also in histories, becomes the same
 * random id, which is stored nowhere else. Records stay, with an author whom nobody can identify; the reasons of the
 * user's absences are deleted.
 */
export const eraseUser = async ({ directUrl, ...events }: ErasureOptions, userId: string) => {
  const client = new pg.Client({ connectionString: directUrl, application_name: 'crm-admin' });
  await client.connect();
  try {
    await client.query('BEGIN');
    await publishChanges(client, events);
    await deletePersonal(client, userId);
    const pair = [userId, randomUUID()] as const;
    const replaced: Record<string, number> = {};
    for (const table of await readTables(client, 'tenant_crm')) {
      const count = await replaceUser(client, table, pair);
      if (count > 0) replaced[table.name] = count;
    }
    await renewDirectKeys(client, pair[1]);
    // Triggers have counted the rows for the pseudonym; what is left for the user adds up to 0.
    await client.query('DELETE FROM tenant_crm.record_counts WHERE scope_id = $1', [userId]);
    await client.query('COMMIT');
    return { user_id: userId, replaced };
  } finally {
    await client.end();
  }
};
