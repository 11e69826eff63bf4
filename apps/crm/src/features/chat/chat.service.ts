import type { Database } from '../../database.ts';
import { type ChannelService, createChannelService } from './channels.service.ts';
import { createMessageService, type MessageService } from './messages.service.ts';
import type { Participants } from './participants.kind.ts';
import { createParticipants } from './participants.service.ts';

/** The services of the chat. */
export interface Chat {
  readonly channels: ChannelService;
  readonly participants: Participants;
  readonly messages: MessageService;
}

export const createChat = (database: Database): Chat => ({
  channels: createChannelService(database),
  participants: createParticipants(database),
  messages: createMessageService(database),
});
