export { type AuthorizedCallerOptions, authorizedCaller } from './callers.ts';
export { type EventSource, startEvents } from './events.ts';
export {
  IdentityStandIn,
  newTenant,
  type Person,
  type PersonOptions,
  refusal,
  STAND_IN_CLIENT,
} from './identity.ts';
export { createSigner, type TokenOptions } from './signing.ts';
