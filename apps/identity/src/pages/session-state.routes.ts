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

/** What the script of the pages asks: whether the session goes on, and for how long without a sign of life. */
export const sessionStateRoutes = ({
  authentication,
  forgery,
  config,
}: Dependencies): RouteTable => {
  const cookie = sessionCookie(config);
  const telling =
    (ask: (secret: string) => Promise<TimeLeft | undefined>): RequestHandler =>
    async (req: Request, res) => {
      // Another site must not keep somebody signed in.
      if (req.method === 'POST') forgery.demandFromHere(req);
      const secret = cookie.secretOf(req);
      const left = secret === null ? undefined : await ask(secret);
      res.json({ signed_in: left !== undefined, seconds_left: left?.seconds ?? null });
    };
  const described = { path: '/session', isPage: true, responses: {} } as const;
  return {
    showSession: forwarded({
      ...described,
      method: 'get',
      summary: 'Script: how long the session goes on; asking is no sign of life',
      forward: telling((secret) => authentication.timeLeft(secret)),
    }),
    keepSessionAlive: forwarded({
      ...described,
      method: 'post',
      summary: 'Script: somebody is at the page',
      forward: telling((secret) => authentication.keepAlive(secret)),
    }),
  };
};
