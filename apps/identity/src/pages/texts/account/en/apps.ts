export const apps = {
  title: 'Connected apps',
  lead: 'Apps that can access your account, and what they can do.',
  emptyTitle: 'No apps yet',
  empty:
    'No app has access to your account. Apps appear here once you sign in to them or allow them access.',
  allowed: 'Apps you gave access',
  allowedLead: 'You can withdraw this access at any time.',
  signedIn: 'Apps you are signed in to',
  signedInLead:
    'Your organization or this service trusts these apps, so they did not ask for your permission.',
  kinds: {
    first_party: (brand: string) => `Run by ${brand}`,
    tenant: (owner: string) => `Run by ${owner}`,
    third_party: 'Third-party app',
  },
  tenant: (name: string) => `Organization: ${name}`,
  since: 'Since:',
  lastUsed: 'Last used:',
  notUsed: 'Not currently signed in',
  can: 'It can:',
  withdraw: 'Remove access',
  signOut: 'Sign out',
  withdrawPage: {
    title: (app: string) => `Remove the access of ${app}?`,
    lead: (app: string) =>
      `${app} will be signed out of your account on all devices at once. It can no longer:`,
    hint: (app: string) =>
      `Data that ${app} has already received stays with its provider. To use the app again, you have to allow it access again.`,
  },
  signOutPage: {
    title: (app: string) => `Sign out of ${app}?`,
    lead: (app: string) => `You will be signed out of ${app} on all devices at once.`,
    hint: (app: string) =>
      `While you are signed in here, opening ${app} may sign you in again without asking for your password.`,
  },
  cancel: 'Cancel',
};

export type AppsTexts = typeof apps;
