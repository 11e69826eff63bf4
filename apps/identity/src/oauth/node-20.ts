/**
 * oidc-provider is written for Node 22; of what it uses, Node 20 lacks only this (WHATWG URL,
 * `URL.parse`).
 */
const { URL } = globalThis;
URL.parse ??= (url, base) => (URL.canParse(url, base) ? new URL(url, base) : null);

export {};
