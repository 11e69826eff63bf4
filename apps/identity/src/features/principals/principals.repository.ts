import type { Policy } from '@tessera/scope-matcher';
import type { Database } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { EFFECTIVE_POLICIES } from '../../tokens/effective-policies.ts';

/** A principal whose rights are asked for, and the tenant in which it would act. */
export interface Holder {
  readonly tenantId: string;
  readonly principalId: string;
}

/** The rights of a principal that can act in a tenant. */
export interface FoundRights {
  readonly tenantSlug: string;
  readonly isSystemAdmin: boolean;
  readonly policies: readonly Policy[];
  /** Absent if the rights are not limited by scopes. */
  readonly scopes?: readonly string[];
}

interface UserRow {
  readonly slug: string;
  readonly is_system_admin: boolean;
  readonly policies: Policy[] | null;
}

export class PrincipalsRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The rights of an active user in an active tenant of theirs, or in any if they are a system administrator. */
  async user({ tenantId, principalId }: Holder, isServiceAccount: boolean) {
    const [row] = await this.#database.$queryRaw<UserRow[]>`
      SELECT n.slug, u.is_system_admin, ${Prisma.raw(EFFECTIVE_POLICIES)} AS policies
      FROM identity.users u
      JOIN identity.tenants n ON n.id = ${tenantId}::uuid AND n.status = 'active'
      LEFT JOIN identity.memberships m ON m.tenant_id = n.id AND m.user_id = u.id
      WHERE u.id = ${principalId}::uuid AND u.is_active
        AND u.is_service_account = ${isServiceAccount}
        AND (m.user_id IS NOT NULL OR u.is_system_admin)`;
    if (!row) return undefined;
    const { slug: tenantSlug, is_system_admin: isSystemAdmin, policies } = row;
    return { tenantSlug, isSystemAdmin, policies: policies ?? [] } satisfies FoundRights;
  }

  /** The scopes of an API key that is valid; null if it is not limited, undefined if it is not valid. */
  async key(
    { tenantId, principalId }: Holder,
    tokenId: string,
  ): Promise<string[] | null | undefined> {
    const [row] = await this.#database.$queryRaw<{ scopes: string[] | null }[]>`
      SELECT scopes FROM identity.tokens
      WHERE id = ${tokenId}::uuid AND user_id = ${principalId}::uuid
        AND tenant_id = ${tenantId}::uuid AND use = 'api_key' AND revoked_at IS NULL
        AND expires_at > now()`;
    return row?.scopes;
  }

  /** The scopes of a system application that is enabled, with the slug of an active tenant. */
  async client({ tenantId, principalId }: Holder) {
    const [row] = await this.#database.$queryRaw<{ slug: string; scopes: string[] }[]>`
      SELECT n.slug, a.scopes FROM identity.system_applications a
      JOIN identity.tenants n ON n.id = ${tenantId}::uuid AND n.status = 'active'
      WHERE a.client_id = ${principalId} AND a.disabled_at IS NULL`;
    return row;
  }
}
