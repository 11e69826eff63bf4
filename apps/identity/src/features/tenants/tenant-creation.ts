import { tenantClientId } from '@tessera/contracts';
import { HttpError, invalidField } from '@tessera/http-kit';
import { v7 as uuidv7 } from 'uuid';
import { registerTenantClient } from '../../clients/registration.ts';
import type { Transaction } from '../../database.ts';
import type { Tenant as Row } from '../../generated/prisma/client.ts';
import { numberedSlug, slugOf } from '../registration/slug.ts';
import { tellAutomation } from './deployments.repository.ts';
import type { TenantStatus } from './state-machine.ts';

/** What a tenant is made of. */
export interface NewTenant {
  /** A new one unless given. */
  readonly id?: string;
  readonly name: string;
  /** Made from the name, and numbered where that is taken, unless given. */
  readonly slug?: string | undefined;
  readonly plan?: string;
  readonly status: TenantStatus;
}

/** A tenant with its client, whose secret nothing shows again. */
export interface CreatedTenant {
  readonly tenant: Row;
  readonly client: { readonly clientId: string; readonly secret: string };
}

/** How many numbers are looked at together. */
const NUMBERS = 50;
/** How often another transaction may take the slug that was free a moment ago. */
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
 * Creates tenants: the one way in which a tenant comes to be while identity runs, whoever asks for it.
 * Everything happens in the transaction of the caller, who adds members, the activity entry and the event.
 */
export class TenantCreation {
  readonly #redirectUris: readonly string[];
  readonly #reservedSlugs: ReadonlySet<string>;

  /** `redirectUris` are those of the client that each tenant gets, with `{slug}`. */
  constructor(redirectUris: readonly string[], reservedSlugs: readonly string[]) {
    this.#redirectUris = redirectUris;
    this.#reservedSlugs = new Set(reservedSlugs);
  }

  /**
   * Creates a tenant with its confidential client. A given slug that is taken or reserved is a 422 on `slug`; one
   * made from the name is numbered until it is free, also when others take the same one meanwhile.
   */
  async create(tx: Transaction, { slug, ...given }: NewTenant): Promise<CreatedTenant> {
    if (slug !== undefined) {
      if (this.#reservedSlugs.has(slug)) throw invalidField('slug', 'slug is reserved');
      const created = await this.#insert(tx, { ...given, slug });
      if (!created) throw invalidField('slug', 'slug is taken');
      return created;
    }
    const base = slugOf(given.name);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const created = await this.#insert(tx, { ...given, slug: await this.#freeSlug(tx, base) });
      if (created) return created;
    }
    throw overloaded();
  }

  /**
   * Creates the tenant of a person who registered. It is active at once; once the transaction has
   * committed, deployment automation is told of it until it hears (decision I24). The slug is made from
   * the name and numbered where it is taken.
   */
  async createRegistered(tx: Transaction, name: string): Promise<CreatedTenant> {
    const created = await this.create(tx, { name, status: 'active' });
    await tellAutomation(tx, created.tenant.id);
    return created;
  }

  /** Null where the slug is taken, by a tenant or by a client that is called as this one's would be. */
  async #insert(
    tx: Transaction,
    { id = uuidv7(), ...given }: NewTenant & { readonly slug: string },
  ): Promise<CreatedTenant | null> {
    // Waits for another transaction that is taking the slug, and leaves this one usable (ON CONFLICT).
    const [tenant] = await tx.tenant.createManyAndReturn({
      data: [{ id, ...given }],
      skipDuplicates: true,
    });
    if (!tenant) return null;
    const client = await registerTenantClient(tx, tenant, this.#redirectUris);
    if (client) return { tenant, client };
    await tx.tenant.delete({ where: { id } });
    return null;
  }

  /** The first of `base`, `base-2`, `base-3`, ... that is not reserved, and that neither a tenant nor a client has. */
  async #freeSlug(tx: Transaction, base: string): Promise<string> {
    for (let first = 1; ; first += NUMBERS) {
      const slugs = Array.from({ length: NUMBERS }, (_, at) => numberedSlug(base, first + at));
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
    const taken = new Set(tenants.map(({ slug }) => slug));
    const clientIds = new Set(clients.map(({ clientId }) => clientId));
    for (const slug of slugs) if (clientIds.has(tenantClientId(slug))) taken.add(slug);
    return taken;
  }
}
