import { notFound } from '@tessera/http-kit';
import type { Transaction } from '../database.ts';

/**
 * 404 where there is no such tenant. The gate lets members into their own only; who stands above tenants,
 * administrators and system applications, may name any.
 */
export const demandTenant = async (
  tx: Pick<Transaction, 'tenant'>,
  tenantId: string,
): Promise<void> => {
  if ((await tx.tenant.count({ where: { id: tenantId } })) === 0) throw notFound('The tenant');
};
