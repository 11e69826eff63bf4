import { flatten, type RouteGroups } from '@tessera/http-kit';

/**
 * Account security and administration (decision I19): a client of a tenant or of a third party has no
 * business there, except where a route says otherwise.
 */
const SECURITY = [
  /^\/api\/auth\/(2fa|pin|password)\//,
  /^\/api\/auth\/(logout-all|logout-others|reauthenticate)$/,
  /^\/api\/user\/password$/,
  /^\/api\/devices(\/|$)/,
  /^\/api\/profile\/(activity\/dispute|email|picture)(\/|$)/,
  /^\/api\/(me\/)?sessions(\/|$)/,
  /^\/api\/me\/(applications|deletion|data|tenants)(\/|$)/,
  /^\/api\/admin\//,
  /\/api-keys(\/|$)/,
];

/**
 * The same routes, once each one of account security and administration has decided whose clients may use
 * it. Throws where one has not: the app does not start.
 */
export const demandDecisions = (groups: RouteGroups): RouteGroups => {
  for (const [id, { path, permission, clients }] of flatten(groups)) {
    const isUndecided = clients === undefined && permission !== 'public';
    if (isUndecided && SECURITY.some((pattern) => pattern.test(path))) {
      throw new Error(`${id}: a route of account security says whose \`clients\` may use it.`);
    }
  }
  return groups;
};
