import type { Database } from '../../database.ts';
import { createRecords } from '../../records/records.ts';
import { type Bots, bot, type ChannelBots } from './bots.kind.ts';
import { createChannelBots } from './channel-bots.service.ts';
import { type ChannelService, createChannelService } from './channels.service.ts';
import type { MessageFileDependencies } from './message-files.service.ts';
import { createMessageService, type MessageService } from './messages.service.ts';
import type { Participants } from './participants.kind.ts';
import { createParticipants } from './participants.service.ts';
import { createReactions, type Reactions } from './reactions.service.ts';

/** The services of the chat. */
export interface Chat {
  readonly channels: ChannelService;
  readonly participants: Participants;
  readonly messages: MessageService;
  readonly reactions: Reactions;
  readonly bots: Bots;
  readonly channelBots: ChannelBots;
}

/** What `createChat` needs. */
interface Dependencies extends MessageFileDependencies {
  readonly database: Database;
}

export const createChat = ({ database, files, jobs }: Dependencies): Chat => {
  const channels = createChannelService({ database, jobs });
  return {
    channels,
    participants: createParticipants(database, channels.channels),
    messages: createMessageService({ database, files, jobs }),
    reactions: createReactions(database),
    bots: createRecords(bot, database),
    channelBots: createChannelBots(database),
  };
};
