import type { Request, Response } from 'express';
import { sessionCookie } from '../../http/session-cookie.ts';
import { originOf } from '../../origin/origin.ts';
import { deviceCookie } from '../devices/device-cookie.ts';
import { confirmationCookie } from '../registration/confirmation-cookie.ts';
import type { Client, SignedIn } from './sign-in.service.ts';

/** Cookies of a sign-in. */
export interface SignInCookies {
  /** The client of a sign-in request. */
  clientOf(req: Request): Client;
  set(res: Response, signedIn: SignedIn): void;
  /** Clears the session cookie; the device cookie remains. */
  clearSession(res: Response): void;
}

export const signInCookies = (config: { readonly isLocal: boolean }): SignInCookies => {
  const [session, device] = [sessionCookie(config), deviceCookie(config)];
  const confirmation = confirmationCookie(config);
  return {
    clientOf: (req) => ({
      ...originOf(req),
      deviceSecret: device.secretOf(req),
      formerSecret: session.secretOf(req),
      confirmationSecret: confirmation.secretOf(req),
    }),
    set(res, { sessionSecret, sessionExpiresIn, remember, deviceSecret }) {
      res.cookie(session.name, sessionSecret, {
        ...session.options,
        ...(remember && { maxAge: sessionExpiresIn * 1000 }),
      });
      res.cookie(device.name, deviceSecret, device.options);
    },
    clearSession(res) {
      res.clearCookie(session.name, session.options);
    },
  };
};
