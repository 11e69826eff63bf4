export const overview = {
  title: (name: string) => `Hello, ${name}`,
  lead: 'Manage your profile, your security, and what has access to your account.',
  signedInAs: 'Signed in as',
  tenant: 'Organization',
  role: 'Role',
  noTenant: 'You are not a member of an organization.',
  attention: 'Needs your attention',
  nothing: 'Everything looks good. Nothing needs your attention.',
  twoFactorOff:
    'Two-factor authentication is off. Turn it on to protect your account even if someone learns your password.',
};

export type OverviewTexts = typeof overview;
