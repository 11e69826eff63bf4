import { duration, moment } from './format.ts';
import type { Texts } from './texts.ts';

const lasting = (seconds: number): string =>
  `The link is valid for ${duration('en', seconds)} and can be used once.`;

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
      greeting: `Hello ${firstName},`,
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
      greeting: `Hello ${firstName},`,
      paragraphs: [
        'The password for your account was just changed.',
        'If this was not you, choose a new password right away and contact your administrator.',
      ],
      action: 'Choose a new password',
      notes: ['If you made this change, you do not need to do anything.'],
    }),
    new_device: ({ firstName, device, ipAddress, at, timeZone }) => ({
      subject: 'New sign-in to your account',
      greeting: `Hello ${firstName},`,
      paragraphs: [
        'Someone signed in to your account from a device we have not seen before:',
        `${device}${ipAddress ? `, IP address ${ipAddress}` : ''}, ${moment('en', at, timeZone)}.`,
        'If this was not you, choose a new password right away. This signs out all devices.',
      ],
      action: 'Choose a new password',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    new_network: ({ firstName, device, ipAddress, at, timeZone }) => ({
      subject: 'Sign-in from a new network',
      greeting: `Hello ${firstName},`,
      paragraphs: [
        'Someone signed in to your account on one of your devices, from a network it has not used before:',
        `${device}${ipAddress ? `, IP address ${ipAddress}` : ''}, ${moment('en', at, timeZone)}.`,
        'If this was not you, choose a new password right away. This signs out all devices.',
      ],
      action: 'Choose a new password',
      notes: ['If this was you, you do not need to do anything.'],
    }),
    address_taken: ({ firstName }) => ({
      subject: 'You already have an account',
      greeting: `Hello ${firstName},`,
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
