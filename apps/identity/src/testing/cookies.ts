interface Answer {
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The `Set-Cookie` of this name; undefined where the answer sets none. */
export const setCookieOf = ({ headers }: Answer, name: string): string | undefined =>
  [headers['set-cookie'] ?? []]
    .flat()
    .map(String)
    .find((line) => line.startsWith(`${name}=`));

/** The value of a cookie that an answer sets. */
export const cookieValueOf = (answer: Answer, name: string): string | undefined =>
  /=([^;]*)/.exec(setCookieOf(answer, name) ?? '')?.[1];

/** Every cookie that an answer sets, by name. */
export const cookiesOf = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(
    [headers['set-cookie'] ?? []]
      .flat()
      .map((line) => /^([^=]*)=([^;]*)/.exec(String(line)))
      .map((found) => [found?.[1] ?? '', found?.[2] ?? '']),
  );

/** The device cookie of an answer, as a browser sends it back. */
export const deviceCookieOf = (answer: Answer): { readonly cookie: string } => ({
  cookie: `__Host-device=${cookieValueOf(answer, '__Host-device')}`,
});
