import { isIP } from 'node:net';
import type { IsAllowedAddress } from './addresses.ts';
import { AddressRefused } from './lookup.ts';

/** The URL is not one that requests can be sent to. */
export class InvalidTarget extends Error {
  override readonly name = 'InvalidTarget';
}

/**
 * Parses and checks the URL of a request or a redirect. Connecting to an IP address involves no DNS lookup, so
 * such addresses are checked here; the URL parser has normalised every notation (decimal, octal, hexadecimal).
 */
export const checkTarget = (url: string | URL, isAllowed: IsAllowedAddress, base?: URL): URL => {
  if (!URL.canParse(String(url), base?.href)) throw new InvalidTarget('The URL is invalid.');
  const target = new URL(url, base);
  if (target.protocol !== 'https:' && target.protocol !== 'http:') {
    throw new InvalidTarget('The URL must begin with https:// or http://.');
  }
  if (target.username || target.password) {
    throw new InvalidTarget('The URL must not contain a user name or password.');
  }
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowed(host)) {
    throw new AddressRefused(`${host} is not a public address.`);
  }
  return target;
};
