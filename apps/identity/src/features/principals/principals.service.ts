import { isUuid } from '@tessera/fields';
import type { FoundRights, Holder, PrincipalsRepository } from './principals.repository.ts';

/** A principal, and the API key that it acts with. */
export interface PrincipalQuery extends Holder {
  readonly type: 'user' | 'service_account' | 'client';
  readonly tokenId?: string | undefined;
}

/** The current rights of principals that are not the caller. */
export class PrincipalsService {
  readonly #principals: PrincipalsRepository;

  constructor(principals: PrincipalsRepository) {
    this.#principals = principals;
  }

  /**
   * What a principal may do in a tenant now; undefined if it cannot act there: it does not exist, is deactivated or
   * not a member, the tenant is not active, or the given API key is not valid.
   */
  async rights({ type, tokenId, ...holder }: PrincipalQuery): Promise<FoundRights | undefined> {
    if (type === 'client') return this.#ofClient(holder);
    if (!isUuid(holder.principalId)) return undefined;
    const rights = await this.#principals.user(holder, type === 'service_account');
    if (!rights || tokenId === undefined) return rights;
    const scopes = await this.#principals.key(holder, tokenId);
    if (scopes === undefined) return undefined;
    return scopes === null ? rights : Object.assign({ scopes }, rights);
  }

  async #ofClient(holder: Holder): Promise<FoundRights | undefined> {
    const found = await this.#principals.client(holder);
    if (!found) return undefined;
    const policies = found.scopes.map((action) => ({ action, effect: 'allow' as const }));
    return { tenantSlug: found.slug, isSystemAdmin: false, policies };
  }
}
