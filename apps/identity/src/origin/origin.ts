import { clientAddress } from '@tessera/http-kit';
import type { Request } from 'express';

/** The origin of a request, for sessions, devices and the activity log. */
export interface Origin {
  /** A valid, normalised IP address. */
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** Maximum stored length of a user agent, in characters. */
const USER_AGENT = 500;

export const originOf = (req: Request): Origin => ({
  ipAddress: clientAddress(req),
  userAgent: req.get('user-agent')?.slice(0, USER_AGENT) || null,
});

/** The supported language that the browser prefers; English otherwise. */
export const localeOf = (req: Request): string => req.acceptsLanguages('en', 'hu', 'de') || 'en';
