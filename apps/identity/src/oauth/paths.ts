/** Endpoints for people and their clients. */
export const userPaths = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
} as const;

/** Endpoints for system applications. */
export const systemPaths = {
  token: '/api/oauth/token',
  introspection: '/api/oauth/introspect',
  revocation: '/api/oauth/revoke',
} as const;
