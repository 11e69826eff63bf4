import { generateKeyBetween } from 'fractional-indexing';
import type { TenantDb } from '../../database.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import { lastPosition } from './pages.repository.ts';

/** A new page is the last one below its parent. */
export const placeNewPage = async (
  { parent_id: parentId = null }: { readonly parent_id?: string | null },
  { db }: { readonly db: TenantDb },
): Promise<{ readonly position: string }> => {
  await lockUntilEnd(db, `pages ${db.tenantId}`);
  return { position: generateKeyBetween(await lastPosition(db, parentId), null) };
};
