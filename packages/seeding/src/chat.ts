import type pg from 'pg';
import type { SeededTenant } from './accounts.ts';
import { copyRows, type Row } from './copy.ts';
import { createRandom, type Random } from './random.ts';
import { inTransaction } from './transaction.ts';

const MINUTE_MS = 60_000;
/** Apart from those of the kinds of records. */
const RANDOM_PLACE = 1000;
const MESSAGES = 60;
const MAX_PARTICIPANTS = 20;
const topics = [
  ['general', 'Everything that concerns all of us'],
  ['sales', 'Offers and orders'],
  ['support', null],
  ['watercooler', null],
] as const;
const emoji = ['👍', '🎉', '😄', '👀'];

/** The tables of the chat that get rows. */
export const chatTables = [
  'channels',
  'channel_participants',
  'messages',
  'message_reactions',
] as const;
type Table = (typeof chatTables)[number];
type Rows = Readonly<Record<Table, Row[]>>;

interface Conversation {
  readonly tenant: SeededTenant;
  readonly random: Random;
  readonly now: Date;
}

/** Adds one public channel with its participants, messages and reactions. */
const addChannel = (
  rows: Rows,
  { tenant: { id: tenant_id, language, users }, random, now }: Conversation,
  [name, topic]: (typeof topics)[number],
): void => {
  const begin = now.getTime() - (MESSAGES + 1) * 30 * MINUTE_MS;
  const at = (position: number): Date => new Date(begin + position * 30 * MINUTE_MS);
  const channel_id = random.uuid(at(0));
  const people = users.slice(0, MAX_PARTICIPANTS);
  rows.channels.push({
    id: channel_id,
    tenant_id,
    created_at: at(0),
    updated_at: at(0),
    kind: 'public',
    name,
    topic,
    last_position: MESSAGES,
    last_message_at: at(MESSAGES),
  });
  for (const [index, user_id] of people.entries()) {
    rows.channel_participants.push({
      id: random.uuid(at(0)),
      tenant_id,
      channel_id,
      user_id,
      role: index === 0 ? 'owner' : 'member',
      created_at: at(0),
      updated_at: at(0),
      read_position: MESSAGES - Math.floor(random.next() * 10),
    });
  }
  for (let position = 1; position <= MESSAGES; position += 1) {
    const id = random.uuid(at(position));
    rows.messages.push({
      id,
      tenant_id,
      channel_id,
      position,
      body: random.somebody(language).faker.lorem.sentence(),
      author_type: 'user',
      user_id: random.pick(people),
      created_at: at(position),
      updated_at: at(position),
    });
    if (random.chance(0.2)) {
      const [symbol, user_id] = [random.pick(emoji), random.pick(people)];
      const created_at = at(position);
      rows.message_reactions.push({
        tenant_id,
        message_id: id,
        emoji: symbol,
        user_id,
        created_at,
      });
    }
  }
};

/**
 * Adds public channels, with participants and messages, to the tenants that have no channel: all of them or none.
 * Returns the number of channels.
 */
export const seedChat = async (
  pool: pg.Pool,
  tenants: readonly SeededTenant[],
  { seed, now, signal }: { seed: number; now: Date; signal?: AbortSignal | undefined },
): Promise<number> => {
  const { rows: found } = await pool.query<{ id: string }>(
    `SELECT tenant AS id FROM unnest($1::uuid[]) AS tenant
     WHERE NOT EXISTS (SELECT FROM tenant_crm.channels WHERE tenant_id = tenant)`,
    [tenants.map(({ id }) => id)],
  );
  const empty = new Set(found.map(({ id }) => id));
  let channels = 0;
  await inTransaction(pool, signal, async (client) => {
    for (const [place, tenant] of tenants.entries()) {
      if (!empty.has(tenant.id) || tenant.users.length === 0) continue;
      const rows: Rows = {
        channels: [],
        channel_participants: [],
        messages: [],
        message_reactions: [],
      };
      const random = createRandom(seed, RANDOM_PLACE, place);
      for (const topic of topics) addChannel(rows, { tenant, random, now }, topic);
      for (const [table, added] of Object.entries(rows)) {
        if (added.length > 0) await copyRows(client, `tenant_crm.${table}`, added, signal);
      }
      channels += rows.channels.length;
    }
  });
  await pool.query(
    'ANALYZE tenant_crm.channels, tenant_crm.channel_participants, tenant_crm.messages',
  );
  return channels;
};
