/** bcrypt reads no further: two passwords that begin alike would be the same. */
export const MAX_PASSWORD_BYTES = 72;

/**
 * A password as it is hashed and compared: what looks the same is the same, whichever keyboard it was
 * typed on (NFC, as RFC 8265 section 4.2).
 */
export const normalisedPassword = (password: string): string => password.normalize('NFC');

export const isTooLongToHash = (password: string): boolean =>
  Buffer.byteLength(password) > MAX_PASSWORD_BYTES;

const KINDS = [
  ['uppercase', /\p{Lu}/u],
  ['lowercase', /\p{Ll}/u],
  ['digit', /\p{Nd}/u],
  ['special', /[^\p{L}\p{M}\p{N}]/u],
] as const;

/** Whose password it is: it must not contain what everybody knows of them. */
export interface PasswordOwner {
  readonly email: string | null;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
}

/** The rules for a new password: those of the specification (section 8), and those of decision I25. */
export type PasswordRule =
  | ('too_long' | 'too_short' | (typeof KINDS)[number][0])
  | ('common' | 'has_address' | 'has_name' | 'has_brand' | 'reused');

/** What a program is told of each rule. */
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

/** The rule that a message is about; undefined where it is about none. */
export const ruleOfMessage = (message: string, minLength: number): PasswordRule | undefined => {
  const found = Object.entries(messagesOf(minLength)).find(([, known]) => known === message);
  return found?.[0] as PasswordRule | undefined;
};

/** Without case and accents. */
const folded = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Shorter names and addresses are parts of too many words. */
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

/** The rules that a new password breaks by how it is made. */
export const brokenForm = (given: string, minLength: number): PasswordRule[] => {
  const password = normalisedPassword(given);
  const isShort = [...password].length < minLength;
  return [
    ...(isTooLongToHash(password) ? (['too_long'] as const) : []),
    ...(isShort ? (['too_short'] as const) : []),
    ...KINDS.filter(([, pattern]) => !pattern.test(password)).map(([rule]) => rule),
  ];
};

/** The rules that it breaks by what it contains. */
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
