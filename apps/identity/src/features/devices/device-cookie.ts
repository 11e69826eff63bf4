import { parse } from 'cookie';
import type { CookieOptions, Request } from 'express';
import { sessionCookie } from '../../session-cookie.ts';

/** Browsers keep no cookie for longer (RFC 6265bis section 5.5). */
const LONGEST = 400 * 86_400_000;

export interface DeviceCookie {
  readonly name: string;
  readonly options: CookieOptions;
  /** What a request says of the device that it comes from. */
  secretOf(req: Request): string | null;
}

/** The cookie that a device is recognised by (decision I7); its value is a secret of that device. */
export const deviceCookie = (config: { readonly isLocal: boolean }): DeviceCookie => {
  const name = config.isLocal ? 'device' : '__Host-device';
  return {
    name,
    options: { ...sessionCookie(config).options, maxAge: LONGEST },
    secretOf: ({ headers }) => parse(headers.cookie ?? '')[name] || null,
  };
};
