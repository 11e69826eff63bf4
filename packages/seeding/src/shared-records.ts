import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { SeededTenant } from './accounts.ts';
import { copyRows, type Row } from './copy.ts';
import { createRandom, type Random } from './random.ts';
import { inTransaction } from './transaction.ts';

/** Apart from those of the kinds of records and of the chat. */
const RANDOM_PLACE = 2000;
const MAX_PARENTS = 10;
const MAX_MEMBERS = 5;
const folderTree = {
  Contracts: ['Customers', 'Suppliers'],
  Invoices: ['Paid', 'Open'],
  Marketing: [],
} as const;
const botNames = ['Deployments', 'Reminders'];

/** Tables that hold a few records of each tenant, in the order in which they refer to each other. */
export const sharedTables = [
  'project_members',
  'document_folders',
  'document_folder_members',
  'bots',
  'channel_bots',
] as const;
type Table = (typeof sharedTables)[number];
type Rows = Readonly<Record<Table, Row[]>>;

interface Parents {
  readonly projects: readonly string[];
  readonly channels: readonly string[];
}

/** The rows of one tenant. */
const rowsOf = (
  { id: tenant_id, users }: SeededTenant,
  { projects, channels }: Parents,
  random: Random,
  now: Date,
): Rows => {
  const common = () => ({ id: random.uuid(now), tenant_id, created_at: now, updated_at: now });
  const people = users.slice(0, MAX_MEMBERS);
  const folders: Row[] = [];
  for (const [name, below] of Object.entries(folderTree)) {
    const folder = { ...common(), parent_id: null, name };
    folders.push(folder);
    for (const child of below) folders.push({ ...common(), parent_id: folder.id, name: child });
  }
  // A folder that only its members see.
  const restricted = { ...common(), parent_id: null, name: 'Personnel' };
  const bots = botNames.map((name) => ({
    ...common(),
    name,
    // The hash of a secret that nobody knows: a new token has to be issued.
    token_hash: createHash('sha256').update(`${random.next()}`).digest('hex'),
  }));
  return {
    project_members: projects.flatMap((project_id) =>
      people.map((user_id, at) => ({
        ...common(),
        project_id,
        user_id,
        role: at === 0 ? 'manager' : 'member',
      })),
    ),
    document_folders: [
      ...folders.map((folder) => ({ ...folder, restricted_by: [] })),
      { ...restricted, restricted_by: [restricted.id] },
    ],
    document_folder_members: people.map((user_id, at) => ({
      ...common(),
      folder_id: restricted.id,
      user_id,
      access: at === 0 ? 'write' : 'read',
    })),
    bots,
    channel_bots: channels.flatMap((channel_id) =>
      bots.map(({ id: bot_id }) => ({ ...common(), channel_id, bot_id })),
    ),
  };
};

/**
 * Adds members of projects, folders of documents with their members, and bots in channels to the tenants that have no
 * folder and no bot: all of them or none. Projects and channels must exist. Returns the number of tenants.
 */
export const seedSharedRecords = async (
  pool: pg.Pool,
  tenants: readonly SeededTenant[],
  { seed, now, signal }: { seed: number; now: Date; signal?: AbortSignal | undefined },
): Promise<number> => {
  const { rows: found } = await pool.query<Parents & { id: string }>(
    `SELECT tenant AS id,
       ARRAY(SELECT id FROM tenant_crm.projects WHERE tenant_id = tenant AND deleted_at IS NULL
             ORDER BY id LIMIT $2) AS projects,
       ARRAY(SELECT id FROM tenant_crm.channels WHERE tenant_id = tenant AND deleted_at IS NULL
             ORDER BY id LIMIT $2) AS channels
     FROM unnest($1::uuid[]) AS tenant
     WHERE NOT EXISTS (SELECT FROM tenant_crm.document_folders WHERE tenant_id = tenant)
       AND NOT EXISTS (SELECT FROM tenant_crm.bots WHERE tenant_id = tenant)
       AND NOT EXISTS (SELECT FROM tenant_crm.project_members WHERE tenant_id = tenant)`,
    [tenants.map(({ id }) => id), MAX_PARENTS],
  );
  const empty = new Map(found.map(({ id, ...parents }) => [id, parents]));
  await inTransaction(pool, signal, async (client) => {
    for (const [place, tenant] of tenants.entries()) {
      const parents = empty.get(tenant.id);
      if (!parents || tenant.users.length === 0) continue;
      const rows = rowsOf(tenant, parents, createRandom(seed, RANDOM_PLACE, place), now);
      for (const table of sharedTables) {
        if (rows[table].length === 0) continue;
        await copyRows(client, `tenant_crm.${table}`, rows[table], signal);
      }
    }
  });
  return empty.size;
};
