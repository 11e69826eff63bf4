import type { Database } from '../../database.ts';
import { type ChannelService, createChannelService } from './channels.service.ts';
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
}

export const createChat = (database: Database): Chat => ({
  channels: createChannelService(database),
  participants: createParticipants(database),
  messages: createMessageService(database),
  reactions: createReactions(database),
});
