import type { ScaleBench, ScaleScenario, ScaleTenant } from '../../scale/bench.ts';
import { besideSql } from '../../scale/comparison.ts';
import { UnexpectedResponses } from '../../scenario.ts';
import { PER_PAGE } from './table.ts';

const CHANNELS = 500;
const MESSAGES_EACH = 20;
const MANY_MESSAGES = 1_000_000;
const FEW_MESSAGES = 1000;
const SMOKE_MESSAGES = 100;
/** The most that a list returns. */
const MAX_PER_PAGE = 100;
const TOPIC = 'benchmark of lists';

/** The user that a token belongs to. */
const userOf = async ({ system }: ScaleBench, { token }: ScaleTenant): Promise<string> => {
  const response = await fetch(`${system.stack.identity.url}/api/user`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { data } = (await response.json()) as { readonly data: { readonly id: string } };
  return data.id;
};

const MESSAGE_COLUMNS =
  'id, tenant_id, channel_id, position, body, author_type, user_id, created_at, updated_at';

/** Adds the channels of a user, each with messages that they have not all read; created at the first run. */
const addChannels = async (
  { database, large, options }: ScaleBench,
  userId: string,
): Promise<void> => {
  const amount = options.smoke ? PER_PAGE : CHANNELS;
  const { rowCount } = await database.query(
    'SELECT FROM tenant_crm.channels WHERE tenant_id = $1 AND topic = $2 LIMIT 1',
    [large.tenantId, TOPIC],
  );
  if (rowCount) return;
  await database.query(
    `WITH channels AS (
       INSERT INTO tenant_crm.channels (id, tenant_id, kind, name, topic, last_position, last_message_at)
       SELECT gen_random_uuid(), $1, 'private', 'Channel ' || n, $2, $3::int, now()
       FROM generate_series(1, $4::int) AS n
       RETURNING id
     ), participants AS (
       INSERT INTO tenant_crm.channel_participants (id, tenant_id, channel_id, user_id, role, read_position)
       SELECT gen_random_uuid(), $1, id, $5, 'owner', (row_number() OVER ()) % $3::int FROM channels
     ), messages AS (
       INSERT INTO tenant_crm.messages (${MESSAGE_COLUMNS})
       SELECT gen_random_uuid(), $1, channels.id, n, 'Message ' || n, 'user', $5, now(), now()
       FROM channels, generate_series(1, $3::int) AS n
       RETURNING id, channel_id, position
     )
     INSERT INTO tenant_crm.message_mentions (tenant_id, message_id, user_id, channel_id, position)
     SELECT $1, id, $5, channel_id, position FROM messages WHERE position % 7 = 0`,
    [large.tenantId, TOPIC, MESSAGES_EACH, amount, userId],
  );
  for (const table of ['channels', 'channel_participants', 'messages', 'message_mentions']) {
    await database.query(`VACUUM ANALYZE tenant_crm.${table}`);
  }
};

/** A public channel with this many messages; created at the first run. */
const channelWith = async (
  { database }: ScaleBench,
  { tenantId }: ScaleTenant,
  messages: number,
): Promise<string> => {
  const topic = `benchmark of ${messages} messages`;
  const find = async (): Promise<string | undefined> => {
    const { rows } = await database.query<{ id: string }>(
      'SELECT id FROM tenant_crm.channels WHERE tenant_id = $1 AND topic = $2',
      [tenantId, topic],
    );
    return rows[0]?.id;
  };
  const found = await find();
  if (found !== undefined) return found;
  await database.query(
    `WITH channel AS (
       INSERT INTO tenant_crm.channels (id, tenant_id, kind, name, topic, last_position, last_message_at)
       VALUES (gen_random_uuid(), $1, 'public', $2, $2, $3::int, now()) RETURNING id
     )
     INSERT INTO tenant_crm.messages (${MESSAGE_COLUMNS})
     SELECT gen_random_uuid(), $1, channel.id, n, 'Message ' || n, 'user', gen_random_uuid(), at, at
     FROM channel, generate_series(1, $3::int) AS n,
       LATERAL (SELECT now() - ($3::int - n) * interval '1 second' AS at) AS sent`,
    [tenantId, topic, messages],
  );
  await database.query('VACUUM ANALYZE tenant_crm.messages');
  return (await find()) ?? '';
};

/** The first channels of a user by name, with what they have not read and the newest message. */
const CHANNEL_LIST = `
  WITH own AS MATERIALIZED (
    SELECT channel_id, role, read_position FROM tenant_crm.channel_participants
    WHERE tenant_id = $1 AND user_id = $2
  ), listed AS MATERIALIZED (
    SELECT channels.*, own.role, own.read_position
    FROM own JOIN tenant_crm.channels ON channels.tenant_id = $1 AND channels.id = own.channel_id
      AND channels.deleted_at IS NULL
  )
  SELECT listed.id, listed.kind, listed.name, listed.topic, listed.last_position, listed.last_message_at,
    listed.role, listed.created_at, listed.updated_at, (SELECT count(*)::int FROM listed) AS total,
    greatest(listed.last_position - listed.read_position, 0) AS unread_count,
    (SELECT count(*)::int FROM tenant_crm.message_mentions AS mention
     WHERE mention.tenant_id = $1 AND mention.user_id = $2 AND mention.channel_id = listed.id
       AND mention.position > listed.read_position) AS mention_count,
    to_jsonb(newest) AS last_message
  FROM (SELECT * FROM listed ORDER BY sort_name, id LIMIT ${MAX_PER_PAGE}) AS listed
  LEFT JOIN LATERAL (
    SELECT id, position, body, file_name, author_type, user_id, bot_id, client_id, created_at
    FROM tenant_crm.messages
    WHERE tenant_id = $1 AND channel_id = listed.id AND deleted_at IS NULL
    ORDER BY position DESC LIMIT 1
  ) AS newest ON true
  ORDER BY listed.sort_name, listed.id`;

/** The unread counts of all channels of a user. */
const UNREAD = `
  SELECT own.channel_id, own.read_position,
    greatest(channels.last_position - own.read_position, 0) AS unread_count,
    (SELECT count(*)::int FROM tenant_crm.message_mentions AS mention
     WHERE mention.tenant_id = $1 AND mention.user_id = $2 AND mention.channel_id = own.channel_id
       AND mention.position > own.read_position) AS mention_count
  FROM tenant_crm.channel_participants AS own
  JOIN tenant_crm.channels ON channels.tenant_id = $1 AND channels.id = own.channel_id
    AND channels.deleted_at IS NULL
  WHERE own.tenant_id = $1 AND own.user_id = $2 ORDER BY own.channel_id`;

/** A page of a channel's messages before a position, with their reactions. */
const HISTORY = `
  SELECT message.id, message.position, message.body, message.author_type, message.user_id, message.bot_id,
    message.client_id, message.thread_root_id, message.reply_count, message.last_reply_at, message.mentions,
    message.edited_at, message.recalled_at, message.pinned_at, message.pinned_by, message.file_name,
    message.created_at, message.updated_at, (
      SELECT sum(count)::int FROM tenant_crm.record_counts
      WHERE tenant_id = $1 AND table_name = 'messages' AND scope_column = 'channel_id' AND scope_id = $2
    ) AS total, ARRAY(
      SELECT emoji FROM tenant_crm.message_reactions AS reaction
      WHERE reaction.tenant_id = $1 AND reaction.message_id = message.id
    ) AS reactions
  FROM tenant_crm.messages AS message
  WHERE message.tenant_id = $1 AND message.channel_id = $2 AND message.deleted_at IS NULL
    AND message.position < $3::bigint
  ORDER BY message.position DESC LIMIT ${PER_PAGE}`;

interface UnreadCounts {
  readonly data: readonly {
    readonly channel_id: string;
    readonly unread_count: number;
    readonly mention_count: number;
  }[];
}

const requireSameCounts = (answer: UnreadCounts, rows: UnreadCounts): void => {
  const text = ({ data }: UnreadCounts): string =>
    data.map((one) => [one.channel_id, one.unread_count, one.mention_count].join()).join(' ');
  if (answer.data.length === 0 || text(answer) !== text(rows)) {
    throw new UnexpectedResponses('the unread counts and their floor differ');
  }
};

/** Lists of a user's channels with unread counts, and a page in the middle of a channel's messages. */
export const chat: ScaleScenario = {
  name: 'chat',
  lists: ['/channels/{id}/messages'],
  run: async (bench) => {
    const { large, reference, options } = bench;
    const userId = await userOf(bench, large);
    await addChannels(bench, userId);
    const many = options.smoke ? SMOKE_MESSAGES : Math.min(MANY_MESSAGES, options.rows);
    const few = options.smoke ? SMOKE_MESSAGES : FEW_MESSAGES;
    const history = async (tenant: ScaleTenant, messages: number) => {
      const channel = await channelWith(bench, tenant, messages);
      const before = Math.ceil(messages / 2);
      return {
        path: `channels/${channel}/messages?before=${before}&per_page=${PER_PAGE}`,
        statement: { text: HISTORY, values: [tenant.tenantId, channel, before] },
      };
    };
    const long = await history(large, many);
    const short = await history(reference, few);
    const channels = options.smoke ? PER_PAGE : CHANNELS;
    return besideSql(bench, [
      {
        what: `first ${Math.min(MAX_PER_PAGE, channels)} of ${channels} channels, with unread counts`,
        tenant: large,
        path: `channels?participant_id=${userId}&per_page=${MAX_PER_PAGE}`,
        statement: { text: CHANNEL_LIST, values: [large.tenantId, userId] },
      },
      {
        what: `unread counts of ${channels} channels`,
        tenant: large,
        path: 'chat/unread',
        statement: { text: UNREAD, values: [large.tenantId, userId] },
        check: requireSameCounts,
      },
      {
        what: `messages in the middle of a channel of ${many}, beside one of ${few}`,
        tenant: large,
        referencePath: short.path,
        isBounded: true,
        path: long.path,
        statement: long.statement,
      },
    ]);
  },
};
