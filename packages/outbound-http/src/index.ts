export { allowedAddresses, type IsAllowedAddress } from './addresses.ts';
export { boundedFetch, type FetchLimits } from './bounded-fetch.ts';
export { AddressRefused, LookupFailed, type Resolve, type ResolvedAddress } from './lookup.ts';
export {
  PublicHttp,
  type PublicHttpOptions,
  type PublicRequest,
  type PublicResponse,
  RedirectRefused,
} from './public-http.ts';
export { ConnectTimeout, PublicTcp, type PublicTcpOptions, type TcpTarget } from './public-tcp.ts';
export { ResponseTooLarge, readBounded } from './read-bounded.ts';
export { InvalidTarget } from './target.ts';
