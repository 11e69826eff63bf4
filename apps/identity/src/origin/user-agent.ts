import bowser from 'bowser';

/** What a user agent says of itself, for a person to recognise their own devices by. */
export interface DeviceDescription {
  readonly name: string;
  /** desktop, mobile, tablet, tv or bot. */
  readonly type: string;
  readonly browser: string;
  readonly os: string;
}

/** What a user agent does not tell. */
export const UNKNOWN = 'unknown';

/** What a program calls itself that is no browser: `okhttp` of `okhttp/4.12.0`. */
const productOf = (userAgent: string): string => /^[\w.-]{1,60}/.exec(userAgent)?.[0] ?? UNKNOWN;

/** Reads a `User-Agent` header (RFC 9110 section 10.1.5); what it does not tell is "unknown". */
export const describeDevice = (userAgent: string | null): DeviceDescription => {
  if (!userAgent) return { name: 'Unknown device', type: UNKNOWN, browser: UNKNOWN, os: UNKNOWN };
  const { browser, os, platform } = bowser.parse(userAgent);
  // Of what bowser does not know it gives all that stands before the last slash, whoever wrote it.
  const { name } = browser;
  const program = name && !userAgent.startsWith(`${name}/`) ? name : productOf(userAgent);
  return {
    name: os.name ? `${program} on ${os.name}` : program,
    type: platform.type || UNKNOWN,
    browser: program,
    os: os.name || UNKNOWN,
  };
};
