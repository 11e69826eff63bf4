import type { Seen } from '../mails.ts';
import { deviceName, duration, moment } from './format.ts';
import type { Texts } from './texts.ts';

const lasting = (seconds: number): string =>
  `The link is valid for ${duration('en', seconds)} and can be used once.`;

const hello = (name: string | null): string => (name ? `Hello ${name},` : 'Hello,');

/** Where and when something was done. */
const seenBy = ({ device, ipAddress, at, timeZone }: Seen): string => {
  const name = deviceName(device, (browser, os) => `${browser} on ${os}`, 'Unknown device');
  return `${name}${ipAddress ? `, IP address ${ipAddress}` : ''}, ${moment('en', at, timeZone)}.`;
};

const codesLeft = (left: number): string =>
  left === 0
    ? 'You have no recovery codes left. Create new ones in your account, under “Two-factor authentication”.'
    : `You have ${left} recovery ${left === 1 ? 'code' : 'codes'} left.`;

export const en: Texts = {
  copyTheAddress: 'If the button does not work, copy this link into your browser:',
  whyThisMail: 'This is an automated message. Replies are not read.',
  mails: {
    email_verification: ({ lifetime }) => ({
      subject: 'Confirm your email address',
      greeting: 'Hello,',
      paragraphs: ['Please confirm that this email address is yours.'],
      action: 'Confirm email address',
      notes: [
        `The link is valid for ${duration('en', lifetime)}.`,
        'If you did not sign up, you can ignore this email. We will not use your address unless you confirm it.',
      ],
    }),
    password_reset: ({ firstName, lifetime }) => ({
      subject: 'Choose a new password',
      greeting: hello(firstName),
      paragraphs: [
        'We received a request to reset the password for your account.',
        'Choose a new password below. You will then be signed out on all devices.',
      ],
      action: 'Choose a new password',
      notes: [
        lasting(lifetime),
        'If you did not request this, you can ignore this email. Your password will not change.',
      ],
    }),
    password_changed: ({ firstName }) => ({
      subject: 'Your password was changed',
      greeting: hello(firstName),
      paragraphs: [
        'The password for your account was just changed.',
        'If this was not you, choose a new password right away and contact your administrator.',
      ],
      action: 'Choose a new password',
      notes: ['If you made this change, you do not need to do anything.'],
    }),
    new_device: ({ firstName, ...seen }) => ({
      subject: 'New sign-in to your account',
      greeting: hello(firstName),
      paragraphs: [
        'Someone signed in to your account from a device we have not seen before:',
        seenBy(seen),
        'If this was not you, open your recent activity and choose “This was not me”. You can then choose a new password and sign out all devices.',
      ],
      action: 'Review recent activity',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    new_network: ({ firstName, ...seen }) => ({
      subject: 'Sign-in from a new network',
      greeting: hello(firstName),
      paragraphs: [
        'Someone signed in to your account on one of your devices, from a network it has not used before:',
        seenBy(seen),
        'If this was not you, open your recent activity and choose “This was not me”. You can then choose a new password and sign out all devices.',
      ],
      action: 'Review recent activity',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    factor_added: ({ firstName, factor, ...seen }) => ({
      subject: { two_factor: 'Two-factor authentication was turned on', pin: 'A PIN was set' }[
        factor
      ],
      greeting: hello(firstName),
      paragraphs: [
        {
          two_factor: 'Two-factor authentication was turned on for your account:',
          pin: 'A PIN was set for your account:',
        }[factor],
        seenBy(seen),
        'If this was not you, open your recent activity and choose “This was not me”. If you can no longer sign in, contact your administrator.',
      ],
      action: 'Review recent activity',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    factor_removed: ({ firstName, factor, seen }) => ({
      subject: {
        two_factor: 'Two-factor authentication was turned off',
        pin: 'Your PIN was removed',
      }[factor],
      greeting: hello(firstName),
      paragraphs: seen
        ? [
            {
              two_factor: 'Two-factor authentication was turned off for your account:',
              pin: 'The PIN of your account was removed:',
            }[factor],
            seenBy(seen),
            'If this was not you, open your recent activity and choose “This was not me”. If you can no longer sign in, contact your administrator.',
          ]
        : [
            {
              two_factor:
                'An administrator turned off two-factor authentication for your account, and you were signed out on all devices.',
              pin: 'An administrator removed the PIN of your account, and you were signed out on all devices.',
            }[factor],
            'If you did not ask for this, contact your administrator.',
          ],
      action: seen ? 'Review recent activity' : 'Set it up again',
      notes: [
        seen
          ? 'If this was you, you do not need to do anything.'
          : 'If you asked for this, you do not need to do anything. We recommend that you set it up again.',
      ],
    }),
    recovery_code_used: ({ firstName, left, ...seen }) => ({
      subject: 'A recovery code was used',
      greeting: hello(firstName),
      paragraphs: [
        'Someone used one of your recovery codes to sign in to your account:',
        seenBy(seen),
        codesLeft(left),
        'If this was not you, open your recent activity and choose “This was not me”. If you can no longer sign in, contact your administrator.',
      ],
      action: 'Review recent activity',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    recovery_codes_replaced: ({ firstName, ...seen }) => ({
      subject: 'Your recovery codes were replaced',
      greeting: hello(firstName),
      paragraphs: [
        'New recovery codes were created for your account. The old ones no longer work:',
        seenBy(seen),
        'If this was not you, open your recent activity and choose “This was not me”. If you can no longer sign in, contact your administrator.',
      ],
      action: 'Review recent activity',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    pin_changed: ({ firstName, ...seen }) => ({
      subject: 'Your PIN was changed',
      greeting: hello(firstName),
      paragraphs: [
        'The PIN of your account was changed:',
        seenBy(seen),
        'If this was not you, open your recent activity and choose “This was not me”. If you can no longer sign in, contact your administrator.',
      ],
      action: 'Review recent activity',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    account_secured: ({ firstName, by, ...seen }) => ({
      subject: 'Your account was secured',
      greeting: hello(firstName),
      paragraphs: [
        'You reported activity in your account that was not yours:',
        seenBy(seen),
        {
          password:
            'Your password was changed, and all other devices and apps were signed out. No device skips two-factor authentication anymore.',
          link: 'All other devices and apps were signed out, and no device skips two-factor authentication anymore. We have sent you a separate email with a link to choose a new password.',
        }[by],
      ],
      action: 'Review your activity',
      notes: [
        'If you did not report this, choose a new password right away and contact your administrator.',
      ],
    }),
    tenant_left: ({ firstName, tenant, ...seen }) => ({
      subject: `You left ${tenant}`,
      greeting: hello(firstName),
      paragraphs: [
        `You are no longer a member of ${tenant}:`,
        seenBy(seen),
        'To come back, ask someone in the organization to invite you. If this was not you, secure your account right away.',
      ],
      action: 'This was not me',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    email_changed: ({ firstName, newEmail }) => ({
      subject: 'Your email address was changed',
      greeting: hello(firstName),
      paragraphs: [
        `The email address of your account is now ${newEmail}.`,
        'If this was not you, choose a new password right away and contact your administrator.',
      ],
      action: 'Choose a new password',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    email_change: ({ lifetime }) => ({
      subject: 'Confirm your new email address',
      greeting: 'Hello,',
      paragraphs: [
        'You asked us to use this email address for your account. Please confirm that it is yours.',
        'Until then, your account keeps its current address.',
      ],
      action: 'Confirm new address',
      notes: [
        lasting(lifetime),
        'If you did not ask for this, you can ignore this email. We will not use your address unless you confirm it.',
      ],
    }),
    email_change_requested: ({ firstName, newEmail, ...seen }) => ({
      subject: 'Someone asked to change your email address',
      greeting: hello(firstName),
      paragraphs: [
        `Someone signed in to your account and asked to change its email address to ${newEmail}:`,
        seenBy(seen),
        'Nothing has changed yet. If this was not you, cancel the change in your profile and choose a new password right away.',
      ],
      action: 'Open your profile',
      notes: ['If this was you, follow the link that we sent to the new address.'],
    }),
    email_change_taken: ({ firstName }) => ({
      subject: 'Your email address already has an account',
      greeting: hello(firstName),
      paragraphs: [
        'Someone, probably you, asked to use this email address for another account. It already belongs to your account, so nothing has changed.',
        'To use it for the other account, change the address of this account first.',
      ],
      action: 'Open your account',
      notes: ['If this was not you, you can ignore this email. Your account has not changed.'],
    }),
    email_replaced: ({ firstName, newEmail, lifetime }) => ({
      subject: 'Your email address was changed',
      greeting: hello(firstName),
      paragraphs: [
        `The email address of your account is now ${newEmail}. You can no longer sign in with this address.`,
        'If this was not you, undo the change. We will restore this address, sign out all devices, and let you choose a new password.',
      ],
      action: 'Undo this change',
      notes: [lasting(lifetime), 'If this was you, you do not need to do anything.'],
    }),
    email_restored: ({ firstName, email }) => ({
      subject: 'A change of your email address was undone',
      greeting: hello(firstName),
      paragraphs: [
        `The email address of your account is ${email} again. The change was undone with the link that we sent to that address.`,
        'All devices have been signed out, the old password no longer works, and two-factor authentication or a PIN that was set up since then has been removed.',
      ],
      action: 'Choose a new password',
      notes: ['If this was not you, contact your administrator.'],
    }),
    data_exported: ({ firstName, ...seen }) => ({
      subject: 'Your data was downloaded',
      greeting: hello(firstName),
      paragraphs: [
        'Someone downloaded a copy of the personal data in your account:',
        seenBy(seen),
        'If this was not you, choose a new password right away and contact your administrator.',
      ],
      action: 'Choose a new password',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    account_deletion_requested: ({ firstName, dueAt, ...seen }) => ({
      subject: 'Your account will be deleted',
      greeting: hello(firstName),
      paragraphs: [
        `Your account and its data will be deleted on ${moment('en', dueAt, seen.timeZone)}. The request was made here:`,
        seenBy(seen),
        'Until then you can use your account as usual, and change your mind at any time. Sign in and choose “Keep my account”.',
      ],
      action: 'Keep my account',
      notes: [
        'If you want to delete your account, you do not need to do anything.',
        'If you did not request this, keep your account and choose a new password right away.',
      ],
    }),
    account_deletion_reminder: ({ firstName, dueAt, timeZone }) => ({
      subject: 'Your account will be deleted soon',
      greeting: hello(firstName),
      paragraphs: [
        `As requested, your account and its data will be deleted on ${moment('en', dueAt, timeZone)}. This cannot be undone.`,
        'If you have changed your mind, sign in before then and choose “Keep my account”.',
      ],
      action: 'Keep my account',
      notes: ['If you still want to delete your account, you do not need to do anything.'],
    }),
    account_deletion_refused: ({ firstName, tenants, isLastAdministrator }) => ({
      subject: 'Your account could not be deleted',
      greeting: hello(firstName),
      paragraphs: [
        'You asked us to delete your account. We have kept it, because nobody else could take over from you:',
        [
          ...tenants.map((name) => `You are the last owner of ${name}.`),
          ...(isLastAdministrator ? ['You are the last administrator of this service.'] : []),
        ].join(' '),
      ],
      action: 'Go to your account',
      notes: ['Give this role to someone else, and then request the deletion again.'],
    }),
    account_deleted: ({ firstName }) => ({
      subject: 'Your account has been deleted',
      greeting: hello(firstName),
      paragraphs: ['As requested, we have deleted your account and the personal data in it.'],
      notes: ['This is our last message to this address.'],
    }),
    address_taken: ({ firstName }) => ({
      subject: 'You already have an account',
      greeting: hello(firstName),
      paragraphs: [
        'Someone, probably you, tried to sign up with this email address. It already has an account, so we did not create a new one.',
        'Please sign in as usual. If you have forgotten your password, choose a new one.',
      ],
      action: 'Choose a new password',
      notes: ['If this was not you, you can ignore this email. Your account has not changed.'],
    }),
    invitation: ({ tenant, inviter, lifetime }) => ({
      subject: `You are invited to join ${tenant}`,
      greeting: 'Hello,',
      paragraphs: [
        inviter
          ? `${inviter} has invited you to join ${tenant}.`
          : `You have been invited to join ${tenant}.`,
      ],
      action: 'Accept invitation',
      notes: [
        lasting(lifetime),
        'If you were not expecting this invitation, you can ignore this email.',
      ],
    }),
  },
};
