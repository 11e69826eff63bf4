import anyAscii from 'any-ascii';

/** Maximum length: a slug is a DNS label (RFC 1035 section 2.3.4). */
const LENGTH = 63;

/** Used for a name without letters or digits. */
const FALLBACK = 'tenant';

const cut = (slug: string, length: number): string => slug.slice(0, length).replace(/-+$/, '');

/**
 * The slug derived from a tenant name in any script: "Café Kovács & Co." becomes `cafe-kovacs-co`, "Пример"
 * becomes `primer`.
 */
export const slugOf = (name: string): string => {
  const words = anyAscii(name.normalize('NFC'))
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  return cut(words, LENGTH) || FALLBACK;
};

/** The slug with a distinguishing number: `acme` and 2 give `acme-2`; 1 gives the slug itself. */
export const numberedSlug = (slug: string, number: number): string => {
  if (number === 1) return slug;
  const suffix = `-${number}`;
  return `${cut(slug, LENGTH - suffix.length)}${suffix}`;
};
