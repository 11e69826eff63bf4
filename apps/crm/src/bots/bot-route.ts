import type { Shape } from '@tessera/fields';
import {
  type RequestBody,
  type Responses,
  type Route,
  type RouteEntry,
  routesFor,
} from '@tessera/http-kit';
import { BOT, type BotCaller } from './bot-access.ts';

const route = routesFor<BotCaller, never>();

/** Declares a route for bots, which present a bot token instead of a bearer token. */
export const botRoute = <
  const P extends string,
  R extends Responses,
  PA extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends RequestBody | undefined = undefined,
>(
  declared: Omit<
    Route<BotCaller, 'authenticated', P, PA, Q, B, R, never>,
    'permission' | 'credential' | 'limit'
  >,
): RouteEntry =>
  route<'authenticated', P, R, PA, Q, B>({
    ...declared,
    permission: 'authenticated',
    credential: BOT,
    limit: BOT,
  } as Route<BotCaller, 'authenticated', P, PA, Q, B, R, never>);
