import { randomInt } from 'node:crypto';

/** Longest slug that leaves room for what tells two apart. */
const LENGTH = 50;

/** The slug of a tenant, made from its name: "Café Kovács & Co." is `cafe-kovacs-co`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LENGTH)
    .replace(/^-+|-+$/g, '') || 'tenant';

/** The same slug with a number that makes it another one. */
export const anotherSlug = (slug: string): string => `${slug}-${randomInt(1000, 1_000_000)}`;
