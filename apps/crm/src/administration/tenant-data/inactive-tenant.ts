import { createLogger } from '@tessera/http-kit';
import { createResourceServer } from '@tessera/resource-server';
import type { Config } from '../../config.ts';

/** Throws unless identity says that the tenant is not active: suspended, being deleted, or unknown. */
export const requireInactive = async (config: Config, tenantId: string): Promise<void> => {
  const access = createResourceServer({
    ...config,
    kafkaBrokers: [],
    service: 'crm',
    logger: createLogger('crm-admin', 'warn'),
  });
  const tenant = await access.tenantOf(tenantId);
  if (tenant.state === 'inactive') return;
  throw new Error(
    tenant.state === 'active'
      ? `The tenant ${tenant.slug} is active. Suspend or delete it in identity first.`
      : `Identity does not tell whether the tenant is active: ${tenant.error.message}`,
  );
};
