import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { lockChannel } from './channels.repository.ts';
import { refuseDirect, requireOwner } from './channels.roles.ts';
import { appendEvent } from './chat-events.ts';

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface RowContext extends Context {
  readonly row: { readonly channel_id: string; readonly bot_id: string };
}

/** Only owners change the bots of a private channel; a direct one has none. */
const checkChange = async ({ caller, db }: Context, channelId: string): Promise<void> => {
  const channel = await lockChannel(db, channelId);
  refuseDirect(channel);
  await requireOwner(caller, db, channel);
};

export const checkNewChannelBot = async (
  _input: unknown,
  context: Context & { readonly columns: { readonly channel_id?: string } },
): Promise<Record<never, never>> => {
  await checkChange(context, context.columns.channel_id ?? '');
  return {};
};

export const checkBotRemoval = (context: RowContext): Promise<void> =>
  checkChange(context, context.row.channel_id);

/** Adds the event of a change. */
export const announceChannelBot = ({
  action,
  db,
  row,
}: RowContext & { readonly action: string }): Promise<void> => {
  const { channel_id: channelId, bot_id } = row;
  const type = action === 'create' ? 'bot.added' : 'bot.removed';
  return appendEvent(db, { channelId, type, payload: { bot_id } });
};
