export const tenants = {
  lead: 'The organizations you belong to, and your role in each.',
  none: 'You are not a member of an organization. Once someone invites you, you will get an email with a link.',
  roles: { owner: 'Owner', admin: 'Administrator', member: 'Member', viewer: 'Viewer' },
  role: (role: string) => `Role: ${role}`,
  since: (date: string) => `Member since ${date}`,
  current: 'Current',
  states: {
    provisioning: {
      badge: 'Being set up',
      hint: 'This organization is still being set up. You can use it soon.',
    },
    failed: {
      badge: 'Not ready',
      hint: 'This organization could not be set up yet. Ask the operator of this service.',
    },
    suspended: {
      badge: 'Suspended',
      hint: 'This organization is suspended. Nobody can use it until it is reactivated.',
    },
    deleting: {
      badge: 'Being deleted',
      hint: 'This organization is being deleted. Nobody can use it any more.',
    },
  },
  switch: 'Switch',
  switchTo: (tenant: string) => `Switch to ${tenant}`,
  switchHint:
    'Your next sign-in starts in the current organization. Apps that are already open stay where they are.',
  leave: 'Leave',
  leaveNamed: (tenant: string) => `Leave ${tenant}`,
  leaving: {
    title: (tenant: string) => `Leave ${tenant}?`,
    lead: 'You can only come back if someone invites you again.',
    effects: 'If you leave:',
    effectList: [
      'You lose your role and your access to everything in this organization.',
      'Apps and devices that work in this organization are signed out of it.',
      'What you created there stays with the organization.',
    ],
    submit: 'Leave organization',
    keep: 'Stay',
    lastOwner: 'You are the only owner of this organization, so you cannot leave it yet.',
    lastOwnerHelp:
      'Make another member an owner first. If the organization is no longer needed, ask your service provider to delete it.',
  },
};

export type TenantsTexts = typeof tenants;
