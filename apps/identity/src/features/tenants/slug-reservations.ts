import type { Transaction } from '../../database.ts';

/** The slug of a deleted tenant, which another tenant cannot get yet (decision I32). */
export interface Reservation {
  readonly slug: string;
  /** The deleted tenant; if it is created again, it may have its slug. */
  readonly tenantId: string;
  readonly until: Date;
}

/** Reserves the slug of a tenant that is being deleted, in the same transaction. */
export const reserveSlug = async (
  tx: Transaction,
  { id: tenantId, slug }: { readonly id: string; readonly slug: string },
): Promise<void> => {
  const reservation = { tenantId, deletedAt: new Date() };
  await tx.reservedSlug.upsert({
    where: { slug },
    create: { slug, ...reservation },
    update: reservation,
  });
};

/** Which of the slugs are reserved; `seconds` is how long a reservation lasts. */
export const reservationsOf = async (
  tx: Pick<Transaction, 'reservedSlug'>,
  slugs: readonly string[],
  seconds: number,
): Promise<Reservation[]> => {
  const lasts = seconds * 1000;
  const rows = await tx.reservedSlug.findMany({
    where: { slug: { in: [...slugs] }, deletedAt: { gt: new Date(Date.now() - lasts) } },
  });
  return rows.map(({ slug, tenantId, deletedAt }) => ({
    slug,
    tenantId,
    until: new Date(+deletedAt + lasts),
  }));
};

/** For operators of the platform only: others must not learn that there was such a tenant. */
export const whyReserved = ({ slug, tenantId, until }: Reservation): string =>
  `slug "${slug}" is reserved until ${until.toISOString()}: it was that of the deleted tenant ${tenantId}`;
