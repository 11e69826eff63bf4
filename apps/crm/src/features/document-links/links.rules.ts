import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { type Lifetime, newLink } from '../../records/expiring-links.ts';
import { recordInDocument } from './links.repository.ts';

/** How long links work. */
export const lifetime: Lifetime = { defaultDays: 7, maxDays: 30 };

/** A new link with the secret of its token, of which only the hash is stored. */
export interface NewLink {
  readonly expires_at?: Date | undefined;
  readonly version_number?: number | null | undefined;
  readonly secret: string;
}

/** The columns of a new link. Throws 403 for callers who cannot create links, and 422 for an invalid expiry. */
export const createLink = (given: NewLink, { caller }: { readonly caller: Caller }) =>
  newLink(caller, given, lifetime);

/** Adds the creation and deletion of a link to the history of its document. */
export const recordLink = async ({
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
