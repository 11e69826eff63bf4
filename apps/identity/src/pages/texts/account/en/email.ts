/** The change of the email address. */
export const email = {
  title: 'Change your email address',
  lead: (current: string) =>
    `We will send a link to the new address. Until you confirm the address with it, you keep signing in with ${current}.`,
  newAddress: 'New email address',
  submit: 'Send link',
  undo: 'We will also tell your current address. The change can be undone from there for a few days.',
  back: 'Back to your profile',
  pendingTitle: 'Waiting for your confirmation',
  pending: (address: string, until: string) =>
    `We have sent a link to ${address}. It is valid until ${until}. Your email address changes when you open it and confirm the new address.`,
  resend: 'Send again',
  cancel: 'Cancel change',
};

export type EmailTexts = typeof email;
