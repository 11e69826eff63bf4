import { HttpError, invalidField } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { hashSecret } from '../../records/record-tokens.ts';
import { recordInDocument } from './links.repository.ts';

const DAY_MS = 24 * 3_600_000;
/** The default and the maximum lifetime of a link. */
export const DEFAULT_DAYS = 7;
export const MAX_DAYS = 30;

/** A new link with the secret of its token, of which only the hash is stored. */
export interface NewLink {
  readonly expires_at?: Date | undefined;
  readonly version_number?: number | null | undefined;
  readonly secret: string;
}

const expiryOf = (given: Date | undefined): Date => {
  const now = Date.now();
  if (given === undefined) return new Date(now + DEFAULT_DAYS * DAY_MS);
  const left = given.getTime() - now;
  if (left > 0 && left <= MAX_DAYS * DAY_MS) return given;
  const rule = `expires_at must be in the future, and at most ${MAX_DAYS} days from now`;
  throw invalidField('expires_at', rule);
};

/**
 * The columns of a new link. A link works only while its creator has access, so clients and administrators who act as
 * another user cannot create links: throws 403.
 */
export const createLink = (
  { expires_at, secret }: NewLink,
  { caller }: { readonly caller: Caller },
) => {
  const user_id = requireUser(caller);
  if (caller.impersonatorId !== undefined) {
    const message = 'Links cannot be created while acting as another user.';
    throw new HttpError(403, 'impersonation_forbidden', message);
  }
  const isKey = caller.principal.type === 'service_account';
  return {
    expires_at: expiryOf(expires_at),
    token_hash: hashSecret(secret),
    user_id,
    user_type: isKey ? ('service_account' as const) : ('user' as const),
    key_id: isKey ? caller.principal.token_id : null,
  };
};

/** Adds the creation and deletion of a link to the history of its document. */
export const followLink = async ({
  action,
  caller,
  db,
  row,
}: {
  readonly action: string;
  readonly caller: Caller;
  readonly db: TenantDb;
  readonly row: { readonly id: string; readonly document_id: string; readonly expires_at: Date };
}): Promise<void> => recordInDocument(db, caller, row, action === 'delete' ? 'delete' : 'create');
