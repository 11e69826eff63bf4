import { flatten, type RouteGroups } from '@tessera/http-kit';

/**
 * Paths of account security and administration, where each route must declare whether clients of tenants and
 * third parties may use it (decision I19).
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
 * Returns the routes after checking that each route of account security and administration declares `clients`.
 * Throws otherwise, so that the app does not start.
 */
export const requireDecisions = (groups: RouteGroups): RouteGroups => {
  for (const [id, { path, permission, clients }] of flatten(groups)) {
    const isUndecided = clients === undefined && permission !== 'public';
    if (isUndecided && SECURITY.some((pattern) => pattern.test(path))) {
      throw new Error(`${id}: a route of account security says whose \`clients\` may use it.`);
    }
  }
  return groups;
};
