import { hostOf } from '@tessera/http-kit';
import type { Origin } from '../origin/origin.ts';

/** Whose share of the queue a hash takes. */
export interface HashingFor {
  /** Sign-ins, what signed-in people do, and everything else that needs no session, such as registrations. */
  readonly kind: 'sign_in' | 'signed_in' | 'anonymous';
  /** Who waits. */
  readonly caller: string;
  /** The account that the password is, or will be, of. */
  readonly account: string;
}

/** The address as limits count it. */
const addressOf = ({ ipAddress }: Origin): string => {
  if (ipAddress === null) return '';
  return hostOf(ipAddress);
};

/** A sign-in with an email address. */
export const signInTo = (email: string, origin: Origin): HashingFor => ({
  kind: 'sign_in',
  caller: addressOf(origin),
  account: email,
});

/** A signed-in person, by the id of the account. */
export const signedIn = (userId: string): HashingFor => ({
  kind: 'signed_in',
  caller: userId,
  account: userId,
});

/** Somebody who is not signed in and sets the password of an account. */
export const visitorOf = (account: string, origin: Origin): HashingFor => ({
  kind: 'anonymous',
  caller: addressOf(origin),
  account,
});
