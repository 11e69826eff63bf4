import { HttpError, notFound } from '@tessera/http-kit';
import type { Transaction } from '../database.ts';

const unusable: Readonly<Record<string, string>> = {
  provisioning: 'The tenant is still being set up. Try again later.',
  failed: 'The tenant could not be set up yet. Try again later.',
  suspended: 'The tenant is suspended.',
  deleting: 'The tenant is being deleted.',
};

/** The status that a message of `requireActive` names, for a text in another language; undefined if it names none. */
export const statusInMessage = (message: string): string | undefined =>
  Object.keys(unusable).find((status) => unusable[status] === message);

/** 403 unless the tenant is active. The code is the same for each status; the message names the reason. */
export const requireActive = ({ status }: { readonly status: string }): void => {
  if (status === 'active') return;
  throw new HttpError(403, 'tenant_suspended', unusable[status] ?? 'The tenant is not active.');
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
