import { clientAddress } from '@tessera/http-kit';
import type { Request } from 'express';

/** Where a request came from, for sessions, devices and the activity log. */
export interface Origin {
  /** A valid IP address in its normal form. */
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** The most that is kept, in characters: a client may send anything. */
const USER_AGENT = 500;

export const originOf = (req: Request): Origin => ({
  ipAddress: clientAddress(req),
  userAgent: req.get('user-agent')?.slice(0, USER_AGENT) ?? null,
});

/** The language that the browser asks for, of those that there are texts in; English otherwise. */
export const localeOf = (req: Request): string => req.acceptsLanguages('en', 'hu', 'de') || 'en';
