import type { PublicHttp } from '@tessera/outbound-http';

/**
 * Returns a function that says why no webhook may be sent to a URL; undefined if one may. Host names are not looked up:
 * their addresses are checked when a request is sent. Without TLS, anybody on the way could read the events: only
 * configurations that allow private networks, such as those of development, accept http.
 */
export const createUrlCheck =
  (http: Pick<PublicHttp, 'check'>, allowedNetworks: readonly string[]) =>
  (url: string): string | undefined => {
    if (allowedNetworks.length === 0 && !url.startsWith('https://')) {
      return 'url must begin with https://';
    }
    try {
      http.check(url);
      return undefined;
    } catch (error) {
      // The response adds a full stop to problems.
      return `url cannot be used: ${(error as Error).message.replace(/\.$/, '')}`;
    }
  };
