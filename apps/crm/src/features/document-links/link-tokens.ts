import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;
const PREFIX = 'tcl';
const TOKEN = /^tcl_([A-Za-z0-9_-]{22})_([A-Za-z0-9_-]{22})_([A-Za-z0-9_-]{43})$/;

/** A new secret for the token of a link: 256 random bits. */
export const newLinkSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** The SHA-256 hash of a secret in hexadecimal, which is stored instead of it. Random secrets need no slower hash. */
export const hashLinkSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex');

const encodeId = (id: string): string =>
  Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');

const decodeId = (text: string): string =>
  Buffer.from(text, 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The token of a link. It contains the ids of the tenant and the link, by which a request finds the link. */
export const linkToken = (tenantId: string, linkId: string, secret: string): string =>
  [PREFIX, encodeId(tenantId), encodeId(linkId), secret].join('_');

/** What a token contains. */
export interface LinkToken {
  readonly tenantId: string;
  readonly linkId: string;
  readonly secret: string;
}

/** Reads a token; undefined if it is malformed. */
export const readLinkToken = (token: string): LinkToken | undefined => {
  const [, tenant, link, secret] = TOKEN.exec(token) ?? [];
  if (tenant === undefined || link === undefined || secret === undefined) return undefined;
  return { tenantId: decodeId(tenant), linkId: decodeId(link), secret };
};

/** Whether a secret has this hash. Takes the same time whether they differ, and if there is no link (undefined). */
export const isSecretOf = (secret: string, hash: string | undefined): boolean => {
  const presented = Buffer.from(hashLinkSecret(secret), 'hex');
  const expected = Buffer.from(hash ?? hashLinkSecret(''), 'hex');
  return timingSafeEqual(presented, expected) && hash !== undefined;
};
