import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isTemporary, type Resolve } from './lookup.ts';

/** How long a name server may take to answer a query, in milliseconds; twice that when the query is repeated. */
const QUERY_MS = 2000;
const TRIES = 2;
/** The limit for a lookup, whatever number of name servers there is, in milliseconds. */
const LOOKUP_MS = 8000;

export interface ResolveOptions {
  /** Whether names of one label, such as that of a mail catcher, are resolved by the system. Default false. */
  readonly hasLocalNames?: boolean;
  /** Name servers instead of those of the system. */
  readonly servers?: readonly string[];
}

/** The address that a host is in a notation such as `127.1` or `0x7f000001`, which is no name. */
const addressIn = (hostname: string): string | undefined => {
  const url = `http://${hostname}/`;
  if (!/^[0-9a-fx.]+$/i.test(hostname) || !URL.canParse(url)) return undefined;
  const { hostname: address } = new URL(url);
  return isIP(address) === 0 ? undefined : address;
};

/** Whether a name is in the hosts file, where the system finds it without asking a name server. */
const isInHostsFile = async (hostname: string): Promise<boolean> => {
  const hosts = await readFile('/etc/hosts', 'utf8').catch(() => '');
  return hosts.toLowerCase().split(/\s+/).includes(hostname.toLowerCase());
};

/**
 * Resolves names by asking name servers. The resolver of the system runs in the few threads of the process, where a name
 * server that does not answer would delay the lookups of everything else.
 */
export const createResolve =
  ({ hasLocalNames = false, servers }: ResolveOptions = {}): Resolve =>
  async (hostname, signal) => {
    const address = addressIn(hostname);
    if (address !== undefined) return [{ address, family: 4 }];
    const isLocal = hasLocalNames && !hostname.includes('.');
    if (isLocal || (await isInHostsFile(hostname))) return systemLookup(hostname, { all: true });
    signal.throwIfAborted();
    const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    const limit = setTimeout(cancel, LOOKUP_MS);
    signal.addEventListener('abort', cancel);
    try {
      const found = await Promise.allSettled([
        resolver.resolve4(hostname).then((all) => all.map((address) => ({ address, family: 4 }))),
        resolver.resolve6(hostname).then((all) => all.map((address) => ({ address, family: 6 }))),
      ]);
      const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      if (addresses.length > 0) return addresses;
      const errors = found.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      throw errors.find(isTemporary) ?? errors[0];
    } finally {
      clearTimeout(limit);
      signal.removeEventListener('abort', cancel);
    }
  };
