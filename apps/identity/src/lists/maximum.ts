import { HttpError } from '@tessera/http-kit';

/** How much a tenant can have; lists and changes of members read their roles. */
export const MAX_ROLES = 1000;
export const MAX_SERVICE_ACCOUNTS = 1000;
/** Of one service account. Keys that are revoked or have expired do not count. */
export const MAX_API_KEYS = 100;

/** The problem of a route that adds one of them. */
export const fullAt = (maximum: number): { readonly 409: string } => ({
  409: `There are already ${maximum}`,
});

/** 409 if there are already as many as there can be. Counting needs a lock that lasts until the transaction ends. */
export const requireBelow = (maximum: number, count: number): void => {
  if (count < maximum) return;
  throw new HttpError(409, 'conflict', `The limit of ${maximum} has been reached.`, {
    details: { maximum },
  });
};
