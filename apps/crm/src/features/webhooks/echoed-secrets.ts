/** The characters of Base64 that encoders of JSON may escape, as patterns of all their forms. */
const FORMS: Readonly<Record<string, string>> = {
  '/': '(?:\\\\*/|\\\\+u002[Ff])',
  '+': '(?:\\+|\\\\+u002[Bb])',
  '=': '(?:=|\\\\+u003[Dd])',
};

/** A text without secrets in Base64, which a receiver may return, also escaped in JSON, or in JSON within JSON. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => {
    const pattern = secret.replace(/[/+=]/g, (character) => FORMS[character] ?? character);
    return rest.replaceAll(new RegExp(pattern, 'g'), '[removed]');
  }, text);
