import { forwarded, type RouteTable } from '@tessera/http-kit';
import type { Request, RequestHandler } from 'express';
import { sessionCookie } from '../http/session-cookie.ts';
import type { Authentication } from '../tokens/authenticate.ts';
import type { TimeLeft } from '../tokens/records.ts';
import type { ForgeryGuard } from './forgery.ts';

interface Dependencies {
  readonly authentication: Pick<Authentication, 'timeLeft' | 'keepAlive'>;
  readonly forgery: ForgeryGuard;
  readonly config: { readonly isLocal: boolean };
}

/** Routes for the pages' script: whether the session is alive, and how long without activity. */
export const sessionStateRoutes = ({
  authentication,
  forgery,
  config,
}: Dependencies): RouteTable => {
  const cookie = sessionCookie(config);
  const sendState =
    (ask: (secret: string) => Promise<TimeLeft | undefined>): RequestHandler =>
    async (req: Request, res) => {
      // Other sites must not keep the user signed in.
      if (req.method === 'POST') forgery.requireSameOrigin(req);
      const secret = cookie.secretOf(req);
      const left = secret === null ? undefined : await ask(secret);
      res.json({ signed_in: left !== undefined, seconds_left: left?.seconds ?? null });
    };
  const described = { path: '/session', isPage: true, responses: {} } as const;
  return {
    showSession: forwarded({
      ...described,
      method: 'get',
      summary: 'Script: get the remaining lifetime of the session; does not count as activity',
      forward: sendState((secret) => authentication.timeLeft(secret)),
    }),
    keepSessionAlive: forwarded({
      ...described,
      method: 'post',
      summary: 'Script: record activity of the user',
      forward: sendState((secret) => authentication.keepAlive(secret)),
    }),
  };
};
