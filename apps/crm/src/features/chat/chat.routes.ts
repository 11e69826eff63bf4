import type { Exports, RouteTable } from '@tessera/http-kit';
import { botRoutes } from './bots.routes.ts';
import { channelRoutes } from './channels.routes.ts';
import type { Chat } from './chat.service.ts';
import { messageFileRoutes } from './message-files.routes.ts';
import { messageRoutes } from './messages.routes.ts';
import { participantRoutes } from './participants.routes.ts';
import { reactionRoutes } from './reactions.routes.ts';

/** The routes of the chat; `maxBytes` is the size of the largest file. */
export const chatRoutes = (
  { channels, participants, messages, reactions, bots, channelBots }: Chat,
  exports: Exports,
  maxBytes: number,
): RouteTable => ({
  ...channelRoutes(channels, exports),
  ...participantRoutes(participants),
  ...messageRoutes(messages),
  ...messageFileRoutes(messages, maxBytes),
  ...reactionRoutes(reactions),
  ...botRoutes(bots, channelBots),
});
