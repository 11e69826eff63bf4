/** The frame of the account pages. */
export const frame = {
  menu: 'Account',
  back: 'Back to your account',
  signedInAs: (who: string) => `Signed in as ${who}`,
  sections: {
    overview: 'Overview',
    profile: 'Profile',
    password: 'Password',
    twoFactor: 'Two-factor authentication',
    pin: 'PIN',
    devices: 'Devices and sessions',
    apps: 'Connected apps',
    activity: 'Activity',
    tenants: 'Organizations',
    data: 'Your data',
  },
};

export type FrameTexts = typeof frame;
