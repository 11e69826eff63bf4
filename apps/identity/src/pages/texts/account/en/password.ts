export const password = {
  title: 'Change your password',
  lead: 'You will stay signed in here. You will be signed out everywhere else, and devices that you trusted will ask for a code again.',
  lastChanged: (when: string) => `Last changed: ${when}`,
  neverChanged: 'You have not changed it yet.',
  submit: 'Change password',
  forgot: 'Forgot your current password?',
};

export type PasswordTexts = typeof password;
