export const twoFactor = {
  title: 'Two-factor authentication',
  off: 'Off',
  offLead:
    'Add a second step to your sign-in: after your password you enter a code from an app on your phone. Someone who learns your password still cannot get in.',
  needs:
    'You need an authenticator app, such as Google Authenticator, Microsoft Authenticator, or 1Password. It takes about two minutes.',
  begin: 'Set up',
  onLead: 'You sign in with your password and a code from your authenticator app.',
  since: 'On since',
  codesLeft: 'Recovery codes left',
  runningLow:
    'You have few recovery codes left. Create new ones so that you can still sign in without your phone.',
  noCodes:
    'You have no recovery codes left. Create new ones: without them and without your phone, you cannot sign in.',
  newCodes: 'Create new recovery codes',
  remove: 'Turn off',
  trusted: (time: string) => `Devices that you trust do not ask for a code for ${time}.`,
  seeDevices: 'See your devices',
  setUp: {
    title: 'Set up two-factor authentication',
    scan: 'Scan this QR code with your authenticator app',
    qrCode: 'QR code with the key for your authenticator app',
    cannotScan: 'Cannot scan the code?',
    openApp: 'Open it in an app on this device',
    byHand: 'Or enter these details in the app:',
    account: 'Account',
    key: 'Key',
    kind: 'Time-based, 6 digits',
    enter: 'Enter the code that the app shows',
    hint: '6 digits. The code changes every 30 seconds.',
    submit: 'Turn on',
    cancel: 'Cancel',
  },
  codes: {
    title: 'Save your recovery codes',
    lead: 'If you lose your phone, each of these codes lets you sign in once. They are shown only now.',
    advice: 'Keep them where only you can get to them, such as a password manager or on paper.',
    list: 'Recovery codes',
    download: 'Download',
    copy: 'Copy',
    copied: 'Copied',
    print: 'Print',
    file: (brand: string, account: string) => `Recovery codes for ${account} at ${brand}`,
    once: 'Each code works once.',
    fileName: 'recovery-codes',
    submit: 'Done',
  },
  replace: {
    title: 'Create new recovery codes?',
    lead: 'Your current recovery codes stop working at once, including those that you have not used.',
    submit: 'Create new codes',
    keep: 'Keep current codes',
  },
  turnOff: {
    title: 'Turn off two-factor authentication?',
    lead: 'From then on, your password alone is enough to sign in.',
    effects:
      'Your recovery codes stop working, and the entry in your authenticator app can be deleted. To turn it on again, you start over with a new QR code.',
    submit: 'Turn off',
    keep: 'Keep it on',
  },
};

export type TwoFactorTexts = typeof twoFactor;
