import type { Request } from 'express';

/** Where a request came from, for sessions, devices and the activity log. */
export interface Origin {
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** The most that is kept, in characters: both are what a client, or a proxy that is trusted too far, says. */
const USER_AGENT = 500;
const ADDRESS = 100;

export const originOf = (req: Request): Origin => ({
  ipAddress: req.ip?.slice(0, ADDRESS) ?? null,
  userAgent: req.get('user-agent')?.slice(0, USER_AGENT) ?? null,
});

/** The language that the browser asks for, of those that there are texts in; English otherwise. */
export const localeOf = (req: Request): string => req.acceptsLanguages('en', 'hu', 'de') || 'en';
