export { boundedFetch, type FetchLimits } from './bounded-fetch.ts';
export { AddressRefused, type Resolve, type ResolvedAddress } from './lookup.ts';
export {
  PublicHttp,
  type PublicHttpOptions,
  type PublicRequest,
  type PublicResponse,
  RedirectRefused,
} from './public-http.ts';
export { ResponseTooLarge, readBounded } from './read-bounded.ts';
export { InvalidTarget } from './target.ts';
