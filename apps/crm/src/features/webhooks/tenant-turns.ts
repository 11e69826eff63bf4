/** How many endpoints of one tenant a replica sends to at the same time. */
const TURNS_PER_TENANT = 8;

/** Shares the jobs of a replica among tenants, so that slow receivers of one leave room for the others. */
export interface TenantTurns {
  /** Runs work as one of the tenant's turns; returns whether there was one left. */
  run(tenantId: string, work: () => Promise<void>): Promise<boolean>;
}

export const createTenantTurns = (most: number = TURNS_PER_TENANT): TenantTurns => {
  const running = new Map<string, number>();
  return {
    async run(tenantId, work) {
      const taken = running.get(tenantId) ?? 0;
      if (taken >= most) return false;
      running.set(tenantId, taken + 1);
      try {
        await work();
      } finally {
        const left = (running.get(tenantId) ?? 1) - 1;
        if (left > 0) running.set(tenantId, left);
        else running.delete(tenantId);
      }
      return true;
    },
  };
};
