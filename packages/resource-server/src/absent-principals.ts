import type { HttpError } from '@tessera/http-kit';
import type { GatedCaller } from './caller.ts';
import { ClientTokens } from './client-token.ts';
import { clientNotConfigured, rightsUnknown } from './errors.ts';
import type { AbsentPrincipal, ClientCredentials, IdentityClient } from './identity-client.ts';
import { RightsCache, type RightsCacheOptions } from './rights-cache.ts';

/** A principal who is not present, for whom a service acts. */
export interface AbsentActor extends AbsentPrincipal {
  /** The administrator who acted as this user; must still be one. */
  readonly impersonatorId?: string | null;
}

/** The current rights of a principal who is not present. */
export type CurrentRights<Permission extends string = string> =
  | { readonly state: 'active'; readonly caller: GatedCaller<Permission> }
  /** It cannot act in the tenant: unknown, deactivated, not a member, tenant suspended, or API key not valid. */
  | { readonly state: 'inactive' }
  /** Identity did not answer, or the service has no client there. The error is for the caller of the service. */
  | { readonly state: 'unknown'; readonly error: HttpError };

/** Whether a tenant is served now. */
export type CurrentTenant =
  | { readonly state: 'active'; readonly slug: string }
  /** Unknown, suspended or deleted. */
  | { readonly state: 'inactive' }
  /** Identity did not answer, or the service has no client there. The error is for the caller of the service. */
  | { readonly state: 'unknown'; readonly error: HttpError };

export interface AbsentPrincipalsOptions extends Omit<RightsCacheOptions, 'fetch'> {
  readonly identity: Pick<IdentityClient, 'clientToken' | 'rights'>;
  /** The service's own client; undefined if it has none. */
  readonly client: ClientCredentials | undefined;
}

/** Requests the current rights of principals who are not present, with the service's own client. */
export class AbsentPrincipals {
  /** Undefined if the service has no client. */
  readonly #cache: RightsCache | undefined;
  readonly #clientId: string;

  constructor({ identity, client, ...options }: AbsentPrincipalsOptions) {
    this.#clientId = client?.id ?? '';
    if (!client) return;
    const tokens = new ClientTokens({ client, identity, clock: options.clock });
    this.#cache = new RightsCache({
      ...options,
      fetch: (principal) => tokens.using((token) => identity.rights(principal, token)),
    });
  }

  /** The cache that events invalidate; undefined if the service has no client. */
  get cache(): RightsCache | undefined {
    return this.#cache;
  }

  async rightsOf({ impersonatorId, ...principal }: AbsentActor): Promise<CurrentRights> {
    const rights = await this.#ask(principal);
    if (rights.state !== 'active' || !impersonatorId) return rights;
    const { tenantId } = principal;
    const impersonator = await this.#ask({ tenantId, id: impersonatorId, type: 'user' });
    if (impersonator.state === 'unknown') return impersonator;
    const isAdmin = impersonator.state === 'active' && impersonator.caller.isSystemAdmin;
    return isAdmin ? rights : { state: 'inactive' };
  }

  /** Asks what the service's own client may do in the tenant: a client can act in every active tenant. */
  async tenantOf(tenantId: string): Promise<CurrentTenant> {
    const rights = await this.#ask({ tenantId, id: this.#clientId, type: 'client' });
    return rights.state === 'active' ? { state: 'active', slug: rights.caller.tenantSlug } : rights;
  }

  async #ask(principal: AbsentPrincipal): Promise<CurrentRights> {
    if (!this.#cache) return { state: 'unknown', error: clientNotConfigured() };
    const answer = await this.#cache.get(principal);
    if (answer.outcome !== 'answered') return { state: 'unknown', error: rightsUnknown(answer) };
    const { value: caller } = answer;
    return caller ? { state: 'active', caller } : { state: 'inactive' };
  }
}
