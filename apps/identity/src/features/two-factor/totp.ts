import speakeasy from 'speakeasy';

/** Time-based one-time passwords (RFC 6238): six digits, SHA-1, as every authenticator app reads them. */
export interface Totp {
  /** What an authenticator app reads a secret from, and calls the account by. */
  uri(secret: Buffer, account: string): string;
  /** The secret in base32, for typing. */
  text(secret: Buffer): string;
  /** The time step that a code of six digits belongs to, at most one from now; null for a wrong one. */
  stepOf(secret: Buffer, code: string): bigint | null;
}

/** In seconds. */
const STEP = 30;
const DRIFT = 1;

/** `issuer` is what apps list accounts under; `now` gives milliseconds. */
export const createTotp = (issuer: string, now: () => number = Date.now): Totp => {
  const uri = (secret: Buffer, account: string): string =>
    speakeasy.otpauthURL({
      secret: secret.toString('hex'),
      encoding: 'hex',
      label: `${issuer}:${account}`,
      issuer,
      algorithm: 'sha1',
      digits: 6,
      period: STEP,
    });
  return {
    uri,
    text: (secret) => new URL(uri(secret, '-')).searchParams.get('secret') ?? '',
    stepOf(secret, code) {
      const current = Math.floor(now() / 1000 / STEP);
      const match = speakeasy.totp.verifyDelta({
        secret: secret.toString('hex'),
        encoding: 'hex',
        token: code,
        counter: current,
        window: DRIFT,
      });
      return match ? BigInt(current + match.delta) : null;
    },
  };
};
