import { domainToASCII, domainToUnicode } from 'node:url';
import { type Field, field } from './field.ts';
import { isLonger, isStorable, string, trimmed } from './string.ts';

/** A label of a domain in ASCII (RFC 1035 section 2.3.4), with underscores, which some mail domains have. */
const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
/** The last label is not a number: the domain would be an IPv4 address (WHATWG URL, section 3.5). */
const asciiDomain = new RegExp(`^(?:${label}\\.)+(?!\\d+$)${label}$`);
const MAX_DOMAIN = 253;

/**
 * The canonical spelling of a domain: in lower case and in Unicode. Undefined if IDNA does not allow it (Unicode
 * Technical Standard 46), or if it is too long for the DNS.
 */
const canonicalDomain = (written: string): string | undefined => {
  // The parser of hosts would decode what follows a %, and end the host at the others.
  if (/[%/?#]/.test(written)) return undefined;
  const ascii = domainToASCII(written);
  if (ascii.length > MAX_DOMAIN || !asciiDomain.test(ascii)) return undefined;
  return domainToUnicode(ascii) || undefined;
};

const localPart = '[^\\s@<>()[\\],;:\\\\"]+';
const domainLabel = '[^\\s@.<>()[\\],;:\\\\"]+';
const addressForm = new RegExp(`^${localPart}@${domainLabel}(\\.${domainLabel})+$`);
const localForm = new RegExp(`^${localPart}$`);
const invisible = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u;
const MAX_ADDRESS = 254;

const isAddress = (value: string): boolean =>
  !isLonger(value, MAX_ADDRESS) && addressForm.test(value);

/**
 * The canonical spelling of an address: lower case, composed letters (NFC), and the domain in Unicode (RFC
 * 5891). Undefined if the domain cannot exist, or the part before it is one that readers or mail servers could take for
 * another one.
 */
const canonicalAddress = (address: string): string | undefined => {
  const at = address.indexOf('@');
  const local = address.slice(0, at).toLowerCase().normalize('NFC');
  const domain = canonicalDomain(address.slice(at + 1));
  if (domain === undefined || invisible.test(local)) return undefined;
  // Some servers replace wide letters: those of `a＠b`, for example, become `a@b`.
  if (!localForm.test(local.normalize('NFKC'))) return undefined;
  return `${local}@${domain}`;
};

/**
 * An e-mail address in its canonical spelling, without white space and invisible characters around it. Only the form is
 * checked (letters of any script, one @, a domain with a dot that IDNA allows); only a message can show whether the
 * address exists. Characters with a meaning in mail headers are rejected: a message to `a,victim@example.com` would also
 * go to the victim. The canonical spelling must not exceed the limit either, because some letters become two in lower
 * case.
 */
export const email = (): Field<string, false> =>
  field(
    string((value, { error }) => {
      if (!isStorable(value) || isLonger(value, MAX_ADDRESS)) return error('email.invalid');
      const address = trimmed(value);
      const canonical = isAddress(address) ? canonicalAddress(address) : undefined;
      // The spelling of some letters changes each time it is converted.
      const isSettled = canonical !== undefined && canonicalAddress(canonical) === canonical;
      return isSettled && isAddress(canonical) ? canonical : error('email.invalid');
    }),
    {
      type: 'string',
      maxLength: MAX_ADDRESS,
      pattern: addressForm.source,
      not: { type: 'string', pattern: '\\u0000' },
      examples: ['ada@example.com'],
    },
  );

/**
 * A domain of at least two labels with letters of any script that IDNA allows, in lower case and in Unicode; not an IP
 * address, and without a port.
 */
export const domain = (): Field<string, false> => {
  const pattern = /^[\p{L}\p{M}\p{N}_-]+(\.[\p{L}\p{M}\p{N}_-]+)+$/u;
  return field(
    string((value, { error }) => {
      const written = isLonger(value, MAX_DOMAIN) ? '' : trimmed(value);
      const canonical = pattern.test(written) ? canonicalDomain(written) : undefined;
      const isSettled = canonical !== undefined && canonicalDomain(canonical) === canonical;
      return isSettled && pattern.test(canonical) ? canonical : error('domain.invalid');
    }),
    { type: 'string', maxLength: MAX_DOMAIN, pattern: pattern.source, examples: ['example.com'] },
  );
};
