import { AsyncLocalStorage } from 'node:async_hooks';
import { addressKey } from '@tessera/http-kit';
import type { RequestHandler } from 'express';
import type { Caller } from './tokens/caller.ts';

/** Whose share of the database connections a request uses. */
interface Share {
  key: string;
}

const shares = new AsyncLocalStorage<Share>();

/** The share of the current request; work outside of requests has one share. See `FairPool`. */
export const connectionShare = (): string => shares.getStore()?.key ?? '';

/** Uses the share of the client's address, until `shareOfCaller` knows better. */
export const shareOfAddress: RequestHandler = (req, _res, next) => {
  shares.run({ key: addressKey(req) }, next);
};

/** Uses the share of the caller's tenant, or of an account without one, for the rest of the request. */
export const shareOfCaller = (caller: Caller): void => {
  const share = shares.getStore();
  if (!share) return;
  const tenant = caller.type === 'client' ? null : caller.tenant;
  share.key = tenant?.id ?? caller.id;
};
