import type { Field, Shape } from '@tessera/fields';
import { type Responses, type Route, type RouteEntry, routesFor } from '@tessera/http-kit';
import { SYSTEM, type SystemCaller } from './system-access.ts';

const route = routesFor<SystemCaller, never>();

/** Declares a route for services, which present a system token instead of a bearer token. */
export const systemRoute = <
  const P extends string,
  R extends Responses,
  PA extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Field | undefined = undefined,
>(
  declared: Omit<
    Route<SystemCaller, 'authenticated', P, PA, Q, B, R, never>,
    'permission' | 'credential' | 'limit'
  >,
): RouteEntry =>
  route<'authenticated', P, R, PA, Q, B>({
    ...declared,
    permission: 'authenticated',
    credential: SYSTEM,
    limit: 'service',
  } as Route<SystemCaller, 'authenticated', P, PA, Q, B, R, never>);
