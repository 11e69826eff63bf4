/** The account sections in navigation order, with their paths. */
export const sections = {
  overview: '/account',
  profile: '/account/profile',
  password: '/account/password',
  twoFactor: '/account/two-factor',
  pin: '/account/pin',
  devices: '/account/devices',
  apps: '/account/apps',
  activity: '/account/activity',
  tenants: '/account/tenants',
  data: '/account/data',
} as const;

export type Section = keyof typeof sections;

const ACCOUNT_PAGE = /^\/account(\/[a-z0-9-]{1,40}){0,3}$/;

/** Whether the path belongs to an account page, so that a sign-in may lead there. */
export const isAccountPath = (path: string): boolean => ACCOUNT_PAGE.test(path);
