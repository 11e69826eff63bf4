import { type Policy, WILDCARD } from '@tessera/scope-matcher';
import type { Caller } from '../../tokens/caller.ts';
import type { MeService } from '../me/me.service.ts';

const allow = (action: string): Policy => ({ action, effect: 'allow' });

const policiesOf = (caller: Caller): readonly Policy[] => {
  if (caller.type === 'client') return caller.scopes.map(allow);
  return caller.isSystemAdmin ? [allow(WILDCARD)] : caller.policies;
};

export class PoliciesService {
  readonly #me: MeService;

  constructor(me: MeService) {
    this.#me = me;
  }

  /**
   * The caller's policies in the token's tenant, or in the tenant that a client or an administrator selects,
   * and the version of that tenant's policies. 403 `tenant_forbidden` for another tenant.
   */
  async effective(
    caller: Caller,
    slug: string | undefined,
  ): Promise<{ policies: readonly Policy[]; version: number | null }> {
    const { policies_version } = await this.#me.principal(caller, slug);
    return { policies: policiesOf(caller), version: policies_version };
  }
}
