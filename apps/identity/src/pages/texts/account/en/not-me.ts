export const notMe = {
  title: 'Secure your account',
  lead: 'If you did not do this, someone else may have access to your account. Choose a new password now.',
  question: 'What you do not recognize',
  effects: 'When you save the new password:',
  effectList: [
    'All other devices and apps are signed out. You stay signed in here.',
    'Two-factor authentication is asked for again on every device, if it is on.',
    'A change of your email address that is not confirmed yet is canceled.',
    'We send you an email and add this to your activity.',
  ],
  submit: 'Secure my account',
  forgot: 'You do not know your current password?',
  byLink: 'Get a link by email',
  keep: 'It was me after all',
  link: {
    title: 'Choose a new password by email',
    lead: (email: string) =>
      `We sign out all other devices and apps right away, and send a link to choose a new password to ${email}.`,
    submit: 'Sign out everywhere else and send link',
    back: 'I know my current password',
  },
  next: {
    title: 'Your account is secured',
    lead: 'Your password is changed, and all other devices and apps are signed out.',
    linkTitle: 'Check your email',
    linkLead:
      'All other devices and apps are signed out. We have sent you a link to choose a new password. Use it now: until then, your old password still works.',
    check: 'What to check next',
    twoFactor:
      'Two-factor authentication: turn it on, or create new recovery codes if someone may have seen them.',
    profile: 'Your email address and phone number: make sure they are still yours.',
    apps: 'Connected apps: remove what you do not recognize.',
    devices: 'Devices: only yours should be listed.',
    activity: 'Your activity: look for changes you did not make.',
    elsewhere: 'If you use the old password anywhere else, change it there, too.',
  },
};

export type NotMeTexts = typeof notMe;
