const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Why a redirect URI is not acceptable; undefined if it is. Allowed are https, http on a loopback host, and
 * an app's private-use scheme, which is a reversed domain name (RFC 8252 section 7).
 */
export const redirectUriProblem = (uri: string): string | undefined => {
  if (!URL.canParse(uri)) return 'it is not an absolute URI';
  const { protocol, hostname, username, password } = new URL(uri);
  if (uri.includes('#')) return 'it has a fragment';
  if (uri.includes('*')) return 'it has a wildcard, but redirect URIs are compared exactly';
  if (username || password) return 'it has credentials';
  if (protocol === 'https:' || protocol.includes('.')) return undefined;
  if (protocol !== 'http:') return 'its scheme is neither https nor a reversed domain name';
  return LOOPBACK.has(hostname) ? undefined : 'http is allowed for loopback hosts only';
};
