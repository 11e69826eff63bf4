import type { Request, Response } from 'express';
import { sessionCookie } from '../../http/session-cookie.ts';
import { originOf } from '../../origin/origin.ts';
import { deviceCookie } from '../devices/device-cookie.ts';
import { confirmationCookie } from '../registration/confirmation-cookie.ts';
import type { Client, SignedIn } from './sign-in.service.ts';

/** What browsers keep of a sign-in. */
export interface SignInCookies {
  /** Where a request to sign in comes from. */
  clientOf(req: Request): Client;
  keep(res: Response, signedIn: SignedIn): void;
  /** The session is forgotten, the device is not. */
  forgetSession(res: Response): void;
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
    keep(res, { sessionSecret, sessionExpiresIn, remember, deviceSecret }) {
      res.cookie(session.name, sessionSecret, {
        ...session.options,
        ...(remember && { maxAge: sessionExpiresIn * 1000 }),
      });
      res.cookie(device.name, deviceSecret, device.options);
    },
    forgetSession(res) {
      res.clearCookie(session.name, session.options);
    },
  };
};
