import type { Out } from '@tessera/fields';
import { invalidField, notFound } from '@tessera/http-kit';
import { type BotCaller, botTokenInvalid } from '../../../bots/bot-access.ts';
import type { Database } from '../../../database.ts';
import type { MessageService } from '../messages.service.ts';
import {
  findChannelOfOwnMessage,
  findChannelsOfBot,
  findOwnBot,
} from './bot-webhooks.repository.ts';
import { MAX_CHANNELS, type OwnBot } from './bot-webhooks.schema.ts';

/** What bots do with their tokens. */
export interface BotWebhooks {
  /** The bot, and the channels in which it can post. */
  identify(caller: BotCaller): Promise<Out<typeof OwnBot>>;
  /**
   * The id of the channel that a message is for: the given one, or the only one of the bot. Throws 422 for a channel that
   * the bot was not added to, and if the bot has to name one.
   */
  channelFor(caller: BotCaller, channelId: string | null | undefined): Promise<string>;
  /** The messages of the channel of a message that the bot wrote. Throws 404 for any other message. */
  aroundOwn(
    caller: BotCaller,
    messageId: string,
  ): Promise<ReturnType<MessageService['messages']['within']>>;
}

export const createBotWebhooks = (
  database: Pick<Database, 'forTenant'>,
  { messages }: Pick<MessageService, 'messages'>,
): BotWebhooks => ({
  async identify({ tenantId, botId }) {
    const db = database.forTenant(tenantId);
    const bot = await findOwnBot(db, botId);
    if (!bot) throw botTokenInvalid();
    const channels = await findChannelsOfBot(db, botId, { limit: MAX_CHANNELS });
    channels.sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
    return Object.assign({ channels }, bot);
  },

  async channelFor({ tenantId, botId }, given) {
    const channelId = given ?? undefined;
    const db = database.forTenant(tenantId);
    const [channel, ...others] = await findChannelsOfBot(db, botId, { channelId, limit: 2 });
    if (channel && others.length === 0) return channel.id;
    if (channelId !== undefined) {
      const message = 'channel_id must be the id of a channel that the bot was added to';
      throw invalidField('channel_id', message);
    }
    const problem = channel
      ? 'channel_id is required, because the bot was added to several channels'
      : 'channel_id is missing, and the bot was not added to any channel';
    throw invalidField('channel_id', problem);
  },

  async aroundOwn({ tenantId, botId }, messageId) {
    const channelId = await findChannelOfOwnMessage(database.forTenant(tenantId), botId, messageId);
    if (channelId === undefined) throw notFound('The message');
    return messages.within(channelId);
  },
});
