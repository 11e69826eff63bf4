export type { ConsumeOptions, Consumption } from '@tessera/event-bus';
export type { AbsentActor, CurrentRights, CurrentTenant } from './absent-principals.ts';
export { type Caller, GatedCaller, requireUser } from './caller.ts';
export { clientNotConfigured, identityUnavailable, invalidToken, scopeDenied } from './errors.ts';
export { createFakeResourceServer, type FakeCaller } from './fake-resource-server.ts';
export {
  createResourceServer,
  type ResourceServer,
  type ResourceServerOptions,
} from './resource-server.ts';
export { identitySettings, identityVariables } from './settings.ts';
export type { StreamState } from './stream.ts';
