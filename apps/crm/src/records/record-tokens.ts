import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;

/** What a token names: a record of a tenant, and a secret that proves it. */
export interface RecordToken {
  readonly tenantId: string;
  readonly id: string;
  readonly secret: string;
}

/** A new secret for a token: 256 random bits. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** What is stored of a secret: SHA-256, in hexadecimal. It is too random to be guessed from that. */
export const hashSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex');

/** Whether a secret is the one of a hash, compared in constant time; also where there is no record. */
export const isSecretOf = (secret: string, hash: string | undefined): boolean => {
  const presented = Buffer.from(hashSecret(secret), 'hex');
  const expected = Buffer.from(hash ?? hashSecret(''), 'hex');
  return timingSafeEqual(presented, expected) && hash !== undefined;
};

const encodeId = (id: string): string =>
  Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');

const decodeId = (text: string): string =>
  Buffer.from(text, 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The format of tokens with a prefix, which secret scanners can search for. */
export interface TokenFormat {
  write(token: RecordToken): string;
  /** Undefined if the token is malformed. */
  read(token: string): RecordToken | undefined;
}

/**
 * Runs `save` with a new secret, of which it stores the hash, and returns the record that it saved with its token, which
 * is stored nowhere.
 */
export const withNewToken = async <R extends { readonly id: string }>(
  format: TokenFormat,
  tenantId: string,
  save: (secret: string) => Promise<R>,
): Promise<R & { readonly token: string }> => {
  const secret = newSecret();
  const saved = await save(secret);
  return Object.assign(saved, { token: format.write({ tenantId, id: saved.id, secret }) });
};

/** Tokens `<prefix>_<tenant>_<id>_<secret>`: a request with one finds the tenant and the record. */
export const tokenFormat = (prefix: string): TokenFormat => {
  const pattern = new RegExp(`^${prefix}_([\\w-]{22})_([\\w-]{22})_([\\w-]{43})$`);
  return {
    write: ({ tenantId, id, secret }) =>
      [prefix, encodeId(tenantId), encodeId(id), secret].join('_'),
    read(token) {
      const [, tenant, id, secret] = pattern.exec(token) ?? [];
      if (tenant === undefined || id === undefined || secret === undefined) return undefined;
      const read = { tenantId: decodeId(tenant), id: decodeId(id), secret };
      // The last characters of ids have bits that are ignored. Another spelling would have a rate limit of its own.
      const isCanonical = encodeId(read.tenantId) === tenant && encodeId(read.id) === id;
      return isCanonical ? read : undefined;
    },
  };
};
