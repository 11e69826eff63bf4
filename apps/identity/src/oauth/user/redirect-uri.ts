const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * What is wrong with an address that codes would be sent to, in words; undefined where it is good: https,
 * http on this machine, or a scheme of the app's own, which is a domain name backwards (RFC 8252 section 7).
 */
export const redirectUriProblem = (uri: string): string | undefined => {
  if (!URL.canParse(uri)) return 'it is no absolute URI';
  const { protocol, hostname, username, password } = new URL(uri);
  if (uri.includes('#')) return 'it has a fragment';
  if (uri.includes('*')) return 'it has a wildcard, and is compared exactly';
  if (username || password) return 'it has credentials';
  if (protocol === 'https:' || protocol.includes('.')) return undefined;
  if (protocol !== 'http:') return 'its scheme is not https and not of a domain';
  return LOOPBACK.has(hostname) ? undefined : 'http is for this machine alone';
};
