/** bcrypt reads no further: two passwords that begin alike would be the same. */
export const MAX_PASSWORD_BYTES = 72;

/**
 * A password as it is hashed and compared: what looks the same is the same, whichever keyboard it was
 * typed on (NFC, as RFC 8265 section 4.2).
 */
export const normalisedPassword = (password: string): string => password.normalize('NFC');

export const isTooLongToHash = (password: string): boolean =>
  Buffer.byteLength(password) > MAX_PASSWORD_BYTES;

const KINDS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\p{Lu}/u, 'an uppercase letter'],
  [/\p{Ll}/u, 'a lowercase letter'],
  [/\p{Nd}/u, 'a digit'],
  [/[^\p{L}\p{M}\p{N}]/u, 'a special character'],
];

/** Every rule of the specification (section 8) that a new password breaks, a message each. */
export const passwordProblems = (given: string, minLength: number): string[] => {
  const password = normalisedPassword(given);
  const problems = KINDS.filter(([pattern]) => !pattern.test(password)).map(
    ([, name]) => `the password must have ${name}`,
  );
  if ([...password].length < minLength) {
    problems.unshift(`the password must have at least ${minLength} characters`);
  }
  if (isTooLongToHash(password)) {
    problems.unshift(`the password must have at most ${MAX_PASSWORD_BYTES} bytes in UTF-8`);
  }
  return problems;
};
