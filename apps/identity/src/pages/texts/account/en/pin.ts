export const pin = {
  title: 'PIN',
  lead: 'A PIN locks your session after you sign in: nothing in your account opens until you enter it. It is a second thing to know, in case someone learns your password.',
  rules: 'Use 6 digits. Do not repeat a single digit or use a run such as 123456.',
  newPin: 'New PIN',
  set: 'Set PIN',
  isOn: 'Your PIN is on. You are asked for it each time you sign in.',
  since: 'In use since',
  locked: (when: string) => `Too many wrong PINs were entered. You can use your PIN again ${when}.`,
  goToChange: 'Change PIN',
  goToRemove: 'Remove PIN',
  change: {
    title: 'Change your PIN',
    lead: 'You will be asked for the new PIN the next time you sign in.',
    submit: 'Change PIN',
    forgotten: 'Forgot your PIN? Remove it with your password, then set a new one.',
  },
  remove: {
    title: 'Remove your PIN?',
    lead: 'You will no longer be asked for a PIN after you sign in. Sessions that are still waiting for it will be signed out.',
    submit: 'Remove PIN',
    keep: 'Keep PIN',
  },
};

export type PinTexts = typeof pin;
