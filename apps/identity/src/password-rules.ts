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

/** The rules of the specification (section 8) for a new password, but for its history. */
export type PasswordRule = 'too_long' | 'too_short' | (typeof KINDS)[number][0];

/** Every rule that a new password breaks. */
export const brokenRules = (given: string, minLength: number): PasswordRule[] => {
  const password = normalisedPassword(given);
  const isShort = [...password].length < minLength;
  return [
    ...(isTooLongToHash(password) ? (['too_long'] as const) : []),
    ...(isShort ? (['too_short'] as const) : []),
    ...KINDS.filter(([, pattern]) => !pattern.test(password)).map(([rule]) => rule),
  ];
};

/** The same, a message each. */
export const passwordProblems = (given: string, minLength: number): string[] => {
  const messages: Readonly<Record<PasswordRule, string>> = {
    too_long: `at most ${MAX_PASSWORD_BYTES} bytes in UTF-8`,
    too_short: `at least ${minLength} characters`,
    uppercase: 'an uppercase letter',
    lowercase: 'a lowercase letter',
    digit: 'a digit',
    special: 'a special character',
  };
  return brokenRules(given, minLength).map((rule) => `the password must have ${messages[rule]}`);
};
