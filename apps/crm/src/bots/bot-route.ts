import { credentialRoutesFor } from '@tessera/http-kit';
import { BOT, type BotCaller } from './bot-access.ts';

/** Declares a route for bots, which present a bot token instead of a bearer token. */
export const botRoute = credentialRoutesFor<BotCaller>({ credential: BOT, limit: BOT });
