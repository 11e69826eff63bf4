/**
 * oidc-provider, on every Node that identity runs on. It is written for Node 22; of what it uses, Node 20
 * lacks only `URL.parse` (WHATWG URL), which is defined here.
 */
const { URL } = globalThis;
URL.parse ??= (url, base) => (URL.canParse(url, base) ? new URL(url, base) : null);

/** What oidc-provider writes to standard error unless Node is an LTS release from 22 on. */
const UNSUPPORTED = 'oidc-provider WARNING: Unsupported runtime.';

let isSupported = true;
const { warn } = console;
console.warn = (...words: unknown[]) => {
  // In a terminal the text is coloured.
  if (String(words[0]).includes(UNSUPPORTED)) isSupported = false;
  else warn(...words);
};
// A static import would run before the lines above.
const provider = await import('oidc-provider').finally(() => {
  console.warn = warn;
});

export const { Provider, errors, interactionPolicy } = provider;

/** A line for the log if oidc-provider does not support this version of Node; otherwise undefined. */
export const runtimeNotice = isSupported
  ? undefined
  : `oidc-provider supports Node 22 LTS and later LTS releases, and this is ${process.version}. Identity is tested on Node 20 and 24; run the current LTS release in production.`;
