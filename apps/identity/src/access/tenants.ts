import { HttpError, notFound } from '@tessera/http-kit';
import type { Transaction } from '../database.ts';

const unusable: Readonly<Record<string, string>> = {
  provisioning: 'The tenant is still being set up. Try again later.',
  failed: 'The tenant could not be set up yet. Try again later.',
  suspended: 'The tenant is suspended.',
  deleting: 'The tenant is being deleted.',
};

/** 403: the tenant is not active. The code is the same for each status; the message names the reason. */
export class TenantNotActive extends HttpError {
  readonly tenantStatus: string;

  constructor(tenantStatus: string) {
    super(403, 'tenant_suspended', unusable[tenantStatus] ?? 'The tenant is not active.');
    this.tenantStatus = tenantStatus;
  }
}

/** Throws `TenantNotActive` unless the tenant is active. */
export const requireActive = ({ status }: { readonly status: string }): void => {
  if (status !== 'active') throw new TenantNotActive(status);
};

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
