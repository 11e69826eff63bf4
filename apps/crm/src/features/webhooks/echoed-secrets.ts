/**
 * The characters of Base64 that encoders of JSON may escape, as patterns of their forms. JSON in JSON in JSON has at most
 * seven backslashes in a row. Without a limit, the time for a long run of them grows with the square of its length.
 */
const FORMS: Readonly<Record<string, string>> = {
  '/': '(?:\\\\{0,7}/|\\\\{1,7}u002[Ff])',
  '+': '(?:\\+|\\\\{1,7}u002[Bb])',
  '=': '(?:=|\\\\{1,7}u003[Dd])',
};

/** A pattern of a secret in Base64 in all its forms. */
export const patternOf = (secret: string): RegExp =>
  new RegExp(
    secret.replace(/[/+=]/g, (character) => FORMS[character] ?? character),
    'g',
  );

/** A text without secrets in Base64, which a receiver may return, also escaped in JSON, or in JSON within JSON. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(patternOf(secret), '[removed]'), text);
