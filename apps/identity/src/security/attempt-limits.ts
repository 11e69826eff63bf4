import { type Attempts, type Counters, createAttempts } from '@tessera/http-kit';
import type { Config } from '../config.ts';

/** Converting a picture is expensive, so an account may change its picture this often an hour. */
const PICTURES_PER_HOUR = 30;

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** The limits of actions that are counted by their target: an account, an address or a tenant. */
export const createAttemptLimits = (counters: Counters, limits: Config['limits']) => {
  const attempts = (name: string, window: number, limit: number, message: string): Attempts =>
    createAttempts({ name, message, window, limit, store: counters.store(`${name}:`) });
  const { loginFailures, mail, invitations } = limits;
  const tooManyMails = 'Too many mails. Try again later.';
  return {
    /** Wrong passwords at sign-in, by account. */
    signIn: attempts(
      'login-account',
      MINUTE,
      loginFailures,
      'Too many failed sign-ins. Try again later.',
    ),
    /** Wrong passwords where a signed-in user confirms one, by account. */
    passwordConfirmation: attempts(
      'password',
      MINUTE,
      loginFailures,
      'Too many wrong passwords. Try again later.',
    ),
    /** Changes of the password, by account. */
    passwordChange: attempts(
      'password-change',
      MINUTE,
      // 0 means no limit, as in the limit class of the route.
      limits.password || Number.POSITIVE_INFINITY,
      'Too many attempts to change the password. Try again later.',
    ),
    /** Mails about new devices, by address. */
    deviceMail: attempts('device-mail', DAY, mail, tooManyMails),
    /** Other mails that anyone can cause, by address. */
    mail: attempts('mail', HOUR, mail, tooManyMails),
    /** Changes of an unconfirmed address, by account. */
    addressChange: attempts(
      'address-change',
      HOUR,
      mail,
      'The address was changed too often. Try again later.',
    ),
    /** Requests to change a confirmed address, by account. */
    emailChange: attempts(
      'email-change',
      HOUR,
      mail,
      'Too many requests to change the email address. Try again later.',
    ),
    /** Invitations, by tenant. */
    invitations: attempts(
      'invitations',
      DAY,
      invitations,
      'The tenant has invited too many people today. Try again tomorrow.',
    ),
    /** Changes of the picture, by account. */
    picture: attempts(
      'picture',
      HOUR,
      PICTURES_PER_HOUR,
      'The picture was changed too often. Try again later.',
    ),
  };
};
