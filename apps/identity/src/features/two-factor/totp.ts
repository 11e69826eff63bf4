import speakeasy from 'speakeasy';

/**
 * Time-based one-time passwords (RFC 6238) with six digits and SHA-1, which all authenticator apps support.
 */
export interface Totp {
  /** The `otpauth:` URI with the secret and the account name. */
  uri(secret: Buffer, account: string): string;
  /** The secret in base32 for manual entry. */
  text(secret: Buffer): string;
  /** The time step of a six-digit code, at most one step from now; null for a wrong code. */
  stepOf(secret: Buffer, code: string): bigint | null;
}

/** Length of a time step in seconds. */
const STEP = 30;
const DRIFT = 1;

/** `issuer` is shown by authenticator apps; `now` returns milliseconds. */
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
