import { credentialRoutesFor } from '@tessera/http-kit';
import { SYSTEM, type SystemCaller } from './system-access.ts';

/** Declares a route for services, which present a system token instead of a bearer token. */
export const systemRoute = credentialRoutesFor<SystemCaller>({
  credential: SYSTEM,
  limit: 'service',
});
