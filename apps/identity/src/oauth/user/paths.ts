export const userPaths = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
} as const;
