import { notFound } from '@tessera/http-kit';
import type { Transaction } from '../database.ts';

/**
 * 404 if the tenant does not exist. Only administrators and system applications can get here with a tenant that
 * is not their token's.
 */
export const requireTenant = async (
  tx: Pick<Transaction, 'tenant'>,
  tenantId: string,
): Promise<void> => {
  if ((await tx.tenant.count({ where: { id: tenantId } })) === 0) throw notFound('The tenant');
};
