import type { BotCaller } from '../../bots/bot-access.ts';
import type { Caller } from '../../http.ts';

/** Who writes messages: users, clients and bots. */
export type ChatCaller = Caller | BotCaller;
