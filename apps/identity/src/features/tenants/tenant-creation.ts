import { tenantClientId } from '@tessera/contracts';
import { HttpError, invalidField } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import { registerTenantClient } from '../../clients/registration.ts';
import type { Config } from '../../config.ts';
import type { Transaction } from '../../database.ts';
import type { Tenant as Row } from '../../generated/prisma/client.ts';
import { numberedSlug, slugOf } from '../registration/slug.ts';
import { queueSync } from './deployments.repository.ts';
import { type Reservation, reservationsOf, whyReserved } from './slug-reservations.ts';
import type { TenantStatus } from './state-machine.ts';

/** Input of a new tenant. */
export interface NewTenant {
  /** Generated if absent. */
  readonly id?: string;
  readonly name: string;
  /** Derived from the name if absent, with a number if that is taken. */
  readonly slug?: string | undefined;
  readonly plan?: string;
  readonly status: TenantStatus;
}

/** A tenant with its client; the secret is shown only once. */
export interface CreatedTenant {
  readonly tenant: Row;
  readonly client: { readonly clientId: string; readonly secret: string };
}

/** Number of candidates checked at once. */
const CANDIDATES = 50;
/** Number of attempts if concurrent transactions take the slug. */
const ATTEMPTS = 20;

const overloaded = (): HttpError =>
  new HttpError(
    503,
    'overloaded',
    'Too many tenants with this name are being created. Try again.',
    {
      headers: { 'Retry-After': '1' },
    },
  );

/**
 * Creates tenants; all other code uses it. Runs in the transaction of the caller, who adds members, the
 * activity entry and the event.
 */
export class TenantCreation {
  /** Redirect URIs of each tenant's client, which may contain `{slug}`. */
  readonly #redirectUris: readonly string[];
  readonly #reservedSlugs: ReadonlySet<string>;
  /** Seconds for which the slug of a deleted tenant is reserved. */
  readonly #slugReservation: number;

  constructor(config: Pick<Config, 'tenantRedirectUris' | 'reservedSlugs' | 'slugReservation'>) {
    this.#redirectUris = config.tenantRedirectUris;
    this.#reservedSlugs = new Set(config.reservedSlugs);
    this.#slugReservation = config.slugReservation;
  }

  /**
   * Creates a tenant and its confidential client. 422 on `slug` if a given slug is taken or reserved; only a system
   * administrator is told that it was that of a deleted tenant. A slug derived from the name gets a number if necessary,
   * also under concurrency.
   */
  async create(
    tx: Transaction,
    { slug, ...given }: NewTenant,
    { isForAdministrator = false } = {},
  ): Promise<CreatedTenant> {
    if (slug !== undefined) {
      if (this.#reservedSlugs.has(slug)) throw invalidField('slug', 'slug is reserved');
      const created = await this.#insert(tx, { ...given, slug });
      if (created) return created;
      const [reservation] = isForAdministrator ? await this.#reservationsOf(tx, [slug]) : [];
      throw invalidField('slug', reservation ? whyReserved(reservation) : 'slug is taken');
    }
    const base = slugOf(given.name);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const created = await this.#insert(tx, { ...given, slug: await this.#freeSlug(tx, base) });
      if (created) return created;
    }
    throw overloaded();
  }

  /**
   * Creates the tenant of a newly registered user. It is active at once; deployment automation is notified
   * after the commit, with retries (decision I24). The slug is derived from the name.
   */
  async createRegistered(tx: Transaction, name: string): Promise<CreatedTenant> {
    const created = await this.create(tx, { name, status: 'active' });
    await queueSync(tx, created.tenant.id);
    return created;
  }

  /** Null if the slug is taken by a tenant, deleted or not, or by the client id derived from it. */
  async #insert(
    tx: Transaction,
    { id = uuidv7(), ...given }: NewTenant & { readonly slug: string },
  ): Promise<CreatedTenant | null> {
    // ON CONFLICT waits for a concurrent transaction that takes the slug and keeps this transaction usable.
    const [tenant] = await tx.tenant.createManyAndReturn({
      data: [{ id, ...given }],
      skipDuplicates: true,
    });
    if (!tenant) return null;
    // Only now: the deletion of a tenant with this slug may have committed just before.
    const isReserved = (await this.#reservationsOf(tx, [given.slug])).length > 0;
    const client = isReserved ? null : await registerTenantClient(tx, tenant, this.#redirectUris);
    if (client) return { tenant, client };
    await tx.tenant.delete({ where: { id } });
    return null;
  }

  #reservationsOf(tx: Transaction, slugs: readonly string[]): Promise<Reservation[]> {
    return reservationsOf(tx, slugs, this.#slugReservation);
  }

  /**
   * The first of `base`, `base-2`, `base-3`, ... that is neither reserved nor used by a tenant or client.
   */
  async #freeSlug(tx: Transaction, base: string): Promise<string> {
    for (let first = 1; ; first += CANDIDATES) {
      const slugs = Array.from({ length: CANDIDATES }, (_, at) => numberedSlug(base, first + at));
      const taken = await this.#taken(tx, slugs);
      const free = slugs.find((slug) => !taken.has(slug) && !this.#reservedSlugs.has(slug));
      if (free !== undefined) return free;
    }
  }

  async #taken(tx: Transaction, slugs: readonly string[]): Promise<Set<string>> {
    const tenants = await tx.tenant.findMany({
      where: { slug: { in: [...slugs] } },
      select: { slug: true },
    });
    const clients = await tx.oAuthClient.findMany({
      where: { clientId: { in: slugs.map(tenantClientId) } },
      select: { clientId: true },
    });
    const reserved = await this.#reservationsOf(tx, slugs);
    const taken = new Set([...tenants, ...reserved].map(({ slug }) => slug));
    const clientIds = new Set(clients.map(({ clientId }) => clientId));
    for (const slug of slugs) if (clientIds.has(tenantClientId(slug))) taken.add(slug);
    return taken;
  }
}
