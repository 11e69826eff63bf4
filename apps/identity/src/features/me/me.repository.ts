import type { Database } from '../../database.ts';
import type { CallerTenant } from '../../tokens/caller.ts';

export interface Profile {
  readonly id: string;
  readonly email: string | null;
  readonly firstName: string;
  readonly lastName: string;
  readonly isActive: boolean;
  readonly emailVerifiedAt: Date | null;
  readonly lastLoginAt: Date | null;
  readonly createdAt: Date;
}

export interface VersionedTenant extends CallerTenant {
  readonly policiesVersion: number;
}

export class MeRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  profile(userId: string): Promise<Profile | null> {
    return this.#database.user.findUnique({ where: { id: userId } });
  }

  async tenantBySlug(slug: string): Promise<VersionedTenant | null> {
    const tenant = await this.#database.tenant.findUnique({
      where: { slug },
      include: { policyVersion: true },
    });
    if (!tenant) return null;
    return { ...tenant, policiesVersion: Number(tenant.policyVersion?.version ?? 0) };
  }
}
