import { duration, moment } from './format.ts';
import type { Texts } from './texts.ts';

const lasting = (seconds: number): string => `The link works once, for ${duration('en', seconds)}.`;

export const en: Texts = {
  copyTheAddress: 'If the button does not work, copy this address into your browser:',
  whyThisMail: 'This mail was sent automatically. Answers to it are not read.',
  mails: {
    email_verification: ({ lifetime }) => ({
      subject: 'Confirm your e-mail address',
      greeting: 'Hello,',
      paragraphs: ['please confirm that this e-mail address is yours.'],
      action: 'Confirm the address',
      notes: [
        `The link works for ${duration('en', lifetime)}.`,
        'You have not signed up? Then do nothing: without your confirmation the address is not used.',
      ],
    }),
    password_reset: ({ firstName, lifetime }) => ({
      subject: 'Choose a new password',
      greeting: `Hello ${firstName},`,
      paragraphs: [
        'somebody, probably you, has asked for a new password for your account.',
        'Choose it here. You will then be signed out everywhere.',
      ],
      action: 'Choose a new password',
      notes: [
        lasting(lifetime),
        'You have not asked for it? Then do nothing: your password stays as it is.',
      ],
    }),
    password_changed: ({ firstName }) => ({
      subject: 'Your password was changed',
      greeting: `Hello ${firstName},`,
      paragraphs: ['the password of your account has just been changed.'],
      action: 'It was not me',
      notes: [
        'If it was you, there is nothing to do. If not, choose a new password at once and tell your administrator.',
      ],
    }),
    new_device: ({ firstName, device, ipAddress, at, timeZone }) => ({
      subject: 'Sign-in from a new device',
      greeting: `Hello ${firstName},`,
      paragraphs: [
        'your account was signed in to from a device that we have not seen before:',
        `${device}${ipAddress ? `, address ${ipAddress}` : ''}, ${moment('en', at, timeZone)}.`,
      ],
      action: 'It was not me',
      notes: [
        'If it was you, there is nothing to do. If not, choose a new password: it ends every sign-in.',
      ],
    }),
    address_taken: ({ firstName }) => ({
      subject: 'You have an account already',
      greeting: `Hello ${firstName},`,
      paragraphs: [
        'somebody, probably you, wanted to sign up with this e-mail address. It has an account already, so none was made.',
        'Sign in as usual. If you do not remember the password, choose a new one.',
      ],
      action: 'Choose a new password',
      notes: ['It was not you? Then do nothing: your account is as it was.'],
    }),
    invitation: ({ tenant, inviter, lifetime }) => ({
      subject: `Invitation to ${tenant}`,
      greeting: 'Hello,',
      paragraphs: [
        inviter
          ? `${inviter} invites you to join ${tenant}.`
          : `you are invited to join ${tenant}.`,
      ],
      action: 'Accept the invitation',
      notes: [lasting(lifetime), 'You do not know what this is about? Then do nothing.'],
    }),
  },
};
