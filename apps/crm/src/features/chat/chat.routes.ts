import type { RouteTable } from '@tessera/http-kit';
import { botRoutes } from './bots.routes.ts';
import { channelRoutes } from './channels.routes.ts';
import type { Chat } from './chat.service.ts';
import { messageRoutes } from './messages.routes.ts';
import { participantRoutes } from './participants.routes.ts';
import { reactionRoutes } from './reactions.routes.ts';

export const chatRoutes = ({
  channels,
  participants,
  messages,
  reactions,
  bots,
  channelBots,
}: Chat): RouteTable => ({
  ...channelRoutes(channels),
  ...participantRoutes(participants),
  ...messageRoutes(messages),
  ...reactionRoutes(reactions),
  ...botRoutes(bots, channelBots),
});
