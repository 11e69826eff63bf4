import { HttpError, invalidField } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import { heldRights, type RightsSource } from '../absent-callers/current-rights.ts';
import type { Caller, CrmPermission } from '../http.ts';
import { hashSecret, isSecretOf, type RecordToken, type TokenFormat } from './record-tokens.ts';
import { hidden } from './row.ts';

const DAY_MS = 24 * 3_600_000;

/** The lifetime of links of a kind, in days. */
export interface Lifetime {
  readonly defaultDays: number;
  readonly maxDays: number;
}

/** The user who created a link, and the API key that they used. */
interface Creator {
  readonly user_id: string;
  readonly user_type: 'user' | 'service_account';
  readonly key_id: string | null;
}

/** The columns of a link by which somebody without authentication sees what its creator may see. */
export interface ExpiringLink extends Creator {
  readonly token_hash: string;
  readonly expires_at: Date;
}

/** The columns that responses do not contain. */
export const hiddenLinkColumns = {
  token_hash: hidden<string>(),
  user_type: hidden<'user' | 'service_account'>(),
  key_id: hidden<string | null>(),
} as const;

const expiryOf = (given: Date | undefined, { defaultDays, maxDays }: Lifetime): Date => {
  const now = Date.now();
  if (given === undefined) return new Date(now + defaultDays * DAY_MS);
  const left = given.getTime() - now;
  if (left > 0 && left <= maxDays * DAY_MS) return given;
  const rule = `expires_at must be in the future, and at most ${maxDays} days from now`;
  throw invalidField('expires_at', rule);
};

const creatorOf = (caller: Caller): Creator => {
  const user_id = requireUser(caller);
  if (caller.impersonatorId !== undefined) {
    const message = 'Links cannot be created while acting as another user.';
    throw new HttpError(403, 'impersonation_forbidden', message);
  }
  const isKey = caller.principal.type === 'service_account';
  return {
    user_id,
    user_type: isKey ? 'service_account' : 'user',
    key_id: isKey ? caller.principal.token_id : null,
  };
};

/**
 * The columns of a new link. A link works only while its creator has access, so clients and administrators who act as
 * another user cannot create links: throws 403. Throws 422 for an expiry outside of the lifetime.
 */
export const newLink = (
  caller: Caller,
  { expires_at, secret }: { readonly expires_at?: Date | undefined; readonly secret: string },
  lifetime: Lifetime,
): ExpiringLink => ({
  ...creatorOf(caller),
  expires_at: expiryOf(expires_at, lifetime),
  token_hash: hashSecret(secret),
});

/** What a link needs to be followed. */
export interface Following<L extends ExpiringLink> {
  readonly access: RightsSource;
  readonly tokens: TokenFormat;
  /** What the creator needs to have still. */
  readonly permission: CrmPermission;
  find(token: RecordToken): Promise<L | undefined>;
}

/**
 * The link of a token, and its creator with their current rights. Undefined for wrong tokens, expired and deleted
 * links, and links whose creator has lost the permission. Throws 503 if the rights are unknown.
 */
export const followLink = async <L extends ExpiringLink>(
  { access, tokens, permission, find }: Following<L>,
  given: string,
): Promise<
  { readonly link: L; readonly tenantId: string; readonly caller: Caller } | undefined
> => {
  const token = tokens.read(given);
  if (!token) return undefined;
  const { tenantId, secret } = token;
  const link = await find(token);
  const isGenuine = isSecretOf(secret, link?.token_hash);
  if (!link || !isGenuine || link.expires_at.getTime() <= Date.now()) return undefined;
  const { user_id: id, user_type: type, key_id: tokenId } = link;
  const rights = await heldRights(access, { tenantId, id, type, tokenId }, [permission]);
  if (rights.state === 'unknown') throw rights.error;
  return rights.state === 'kept' ? { link, tenantId, caller: rights.caller } : undefined;
};
