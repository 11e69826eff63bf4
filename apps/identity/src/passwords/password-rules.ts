/** bcrypt ignores further bytes, so that longer passwords with the same beginning would be equal. */
export const MAX_PASSWORD_BYTES = 72;

/** A password as it is hashed and compared: NFC, whatever keyboard it was typed on (RFC 8265 section 4.2). */
export const normalisedPassword = (password: string): string => password.normalize('NFC');

export const isTooLongToHash = (password: string): boolean =>
  Buffer.byteLength(password) > MAX_PASSWORD_BYTES;

const KINDS = [
  ['uppercase', /\p{Lu}/u],
  ['lowercase', /\p{Ll}/u],
  ['digit', /\p{Nd}/u],
  ['special', /[^\p{L}\p{M}\p{N}]/u],
] as const;

/** The owner of a password, whose name and address it must not contain. */
export interface PasswordOwner {
  readonly email: string | null;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
}

/** The rules for new passwords (identity.md section 8, decision I25). */
export type PasswordRule =
  | ('too_long' | 'too_short' | (typeof KINDS)[number][0])
  | ('common' | 'has_address' | 'has_name' | 'has_brand' | 'reused');

/** The error message of each rule. */
const messagesOf = (minLength: number): Readonly<Record<PasswordRule, string>> => ({
  too_long: `the password must have at most ${MAX_PASSWORD_BYTES} bytes in UTF-8`,
  too_short: `the password must have at least ${minLength} characters`,
  uppercase: 'the password must have an uppercase letter',
  lowercase: 'the password must have a lowercase letter',
  digit: 'the password must have a digit',
  special: 'the password must have a special character',
  common: 'the password must not be a common one, with or without digits and symbols at its end',
  has_address: 'the password must not contain your e-mail address',
  has_name: 'the password must not contain your name',
  has_brand: 'the password must not contain the name of this service',
  reused: 'the password must be none of your last ones',
});

export const messageOfRule = (rule: PasswordRule, minLength: number): string =>
  messagesOf(minLength)[rule];

/** The rule of an error message; undefined for any other message. */
export const ruleOfMessage = (message: string, minLength: number): PasswordRule | undefined => {
  const found = Object.entries(messagesOf(minLength)).find(([, known]) => known === message);
  return found?.[0] as PasswordRule | undefined;
};

/** Lower case, without accents. */
const folded = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Shorter names and addresses occur in too many words. */
const SHORTEST_PART = 4;
const SHORTEST_BRAND = 3;

const containsAny = (password: string, parts: readonly string[], shortest: number): boolean =>
  parts.map(folded).some((part) => [...part].length >= shortest && password.includes(part));

const wordsOf = (name: string): readonly string[] => [
  name.trim(),
  ...name.split(/[^\p{L}\p{M}]+/u),
];

const addressParts = (email: string): readonly string[] => [
  email,
  email.slice(0, email.lastIndexOf('@')),
];

/** The rules about length and characters that a new password breaks. */
export const brokenForm = (given: string, minLength: number): PasswordRule[] => {
  const password = normalisedPassword(given);
  const isShort = [...password].length < minLength;
  return [
    ...(isTooLongToHash(password) ? (['too_long'] as const) : []),
    ...(isShort ? (['too_short'] as const) : []),
    ...KINDS.filter(([, pattern]) => !pattern.test(password)).map(([rule]) => rule),
  ];
};

/** The rules about contents that a new password breaks: address, name and brand. */
export const brokenContent = (
  given: string,
  { email, firstName = '', lastName = '' }: PasswordOwner,
  brandName: string,
): PasswordRule[] => {
  const password = folded(given);
  const names = [firstName, lastName, `${firstName}${lastName}`].flatMap(wordsOf);
  const broken: Partial<Record<PasswordRule, boolean>> = {
    has_address: email !== null && containsAny(password, addressParts(email), SHORTEST_PART),
    has_name: containsAny(password, names, SHORTEST_PART),
    has_brand: containsAny(password, [brandName, brandName.replace(/\s/g, '')], SHORTEST_BRAND),
  };
  return (['has_address', 'has_name', 'has_brand'] as const).filter((rule) => broken[rule]);
};
