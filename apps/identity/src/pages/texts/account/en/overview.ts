export const overview = {
  title: (name: string) => `Hello, ${name}`,
  lead: 'Manage your profile, your security, and what has access to your account.',
  signedInAs: 'Signed in as',
  tenant: 'Organization',
  role: 'Role',
  noTenant: 'You are not a member of an organization.',
  attention: 'Needs your attention',
  nothing: 'Nothing needs your attention.',
  newDevice: (device: string, when: string) => `New sign-in from ${device}, ${when}. Was this you?`,
  fewCodes: (left: number) =>
    left === 0
      ? 'You have no recovery codes left. Create new ones so that you can sign in without your authenticator app.'
      : `You have only ${left} recovery ${left === 1 ? 'code' : 'codes'} left. Create new ones before you run out.`,
  pendingEmail: (email: string) =>
    `Your new email address ${email} is not confirmed yet. Follow the link in the email we sent there.`,
  suggestions: 'Make your account safer',
  pinOff: 'Set a PIN that is asked for after every sign-in.',
  twoFactorOff:
    'Turn on two-factor authentication to protect your account even if someone learns your password.',
};

export type OverviewTexts = typeof overview;
