import anyAscii from 'any-ascii';

/** Longest slug: it is a DNS label (RFC 1035 section 2.3.4). */
const LENGTH = 63;

/** What a name without a single letter or digit becomes. */
const FALLBACK = 'tenant';

const cut = (slug: string, length: number): string => slug.slice(0, length).replace(/-+$/, '');

/**
 * The slug of a tenant, made from its name in whatever script: "Café Kovács & Co." is `cafe-kovacs-co`,
 * "Пример" is `primer`.
 */
export const slugOf = (name: string): string => {
  const words = anyAscii(name.normalize('NFC'))
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  return cut(words, LENGTH) || FALLBACK;
};

/** The slug with a number that tells it from others: `acme`, 2 is `acme-2`. 1 is the slug itself. */
export const numberedSlug = (slug: string, number: number): string => {
  if (number === 1) return slug;
  const suffix = `-${number}`;
  return `${cut(slug, LENGTH - suffix.length)}${suffix}`;
};
