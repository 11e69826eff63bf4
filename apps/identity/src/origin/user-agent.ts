import bowser from 'bowser';

/** A description of a device, for users to recognise their own devices. */
export interface DeviceDescription {
  readonly name: string;
  /** desktop, mobile, tablet, tv or bot. */
  readonly type: string;
  readonly browser: string;
  readonly os: string;
}

/** Stands for properties that a user agent does not contain. */
export const UNKNOWN = 'unknown';

/** The product name of a program that is not a browser: `okhttp` of `okhttp/4.12.0`. */
const productOf = (userAgent: string): string => /^[\w.-]{1,60}/.exec(userAgent)?.[0] ?? UNKNOWN;

/** Parses a `User-Agent` header (RFC 9110 section 10.1.5); missing properties are "unknown". */
export const describeDevice = (userAgent: string | null): DeviceDescription => {
  if (!userAgent) return { name: 'Unknown device', type: UNKNOWN, browser: UNKNOWN, os: UNKNOWN };
  const { browser, os, platform } = bowser.parse(userAgent);
  // For unknown programs, bowser returns everything before the last slash, which is not a name.
  const { name } = browser;
  const program = name && !userAgent.startsWith(`${name}/`) ? name : productOf(userAgent);
  return {
    name: os.name ? `${program} on ${os.name}` : program,
    type: platform.type || UNKNOWN,
    browser: program,
    os: os.name || UNKNOWN,
  };
};
