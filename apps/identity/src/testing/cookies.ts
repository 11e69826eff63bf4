interface WithHeaders {
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The `Set-Cookie` of this name; undefined if the response sets none. */
export const setCookieOf = ({ headers }: WithHeaders, name: string): string | undefined =>
  [headers['set-cookie'] ?? []]
    .flat()
    .map(String)
    .find((line) => line.startsWith(`${name}=`));

/** The value of a cookie that a response sets. */
export const cookieValueOf = (response: WithHeaders, name: string): string | undefined =>
  /=([^;]*)/.exec(setCookieOf(response, name) ?? '')?.[1];

/** Every cookie that a response sets, by name. */
export const cookiesOf = ({ headers }: WithHeaders): Record<string, string> =>
  Object.fromEntries(
    [headers['set-cookie'] ?? []]
      .flat()
      .map((line) => /^([^=]*)=([^;]*)/.exec(String(line)))
      .map((found) => [found?.[1] ?? '', found?.[2] ?? '']),
  );

/** The device cookie of a response, as a browser sends it back. */
export const deviceCookieOf = (response: WithHeaders): { readonly cookie: string } => ({
  cookie: `__Host-device=${cookieValueOf(response, '__Host-device')}`,
});
