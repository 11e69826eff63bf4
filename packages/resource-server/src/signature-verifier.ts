import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { IdentityResult } from './identity-client.ts';

export interface SignatureVerifierOptions {
  /** Fetches identity's keys (RFC 7517). */
  fetch(): Promise<IdentityResult<readonly JsonWebKey[]>>;
  /** Milliseconds since the epoch. */
  clock(): number;
}

interface Key {
  readonly key: KeyObject;
  readonly algorithms: jwt.Algorithm[];
}

/** The shortest time between two fetches, in milliseconds: tokens with unknown key ids must not flood identity. */
const MIN_INTERVAL = 5_000;
/** The age at which keys are fetched again, in milliseconds, so that a retired key is dropped. */
const LIFETIME = 300_000;
/** How much the clocks of identity and of this service may differ, in seconds. */
const CLOCK_TOLERANCE = 10;

const byCurve: Readonly<Record<string, jwt.Algorithm[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
};
const rsa: jwt.Algorithm[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];

/** A key by its id; none if its type is not supported here: identity checks tokens of such keys. */
const readKey = (jwk: JsonWebKey): [string, Key][] => {
  const algorithms = jwk.kty === 'RSA' ? rsa : byCurve[jwk.crv ?? ''];
  if (typeof jwk.kid !== 'string' || !algorithms || jwk.use === 'enc') return [];
  try {
    return [[jwk.kid, { key: createPublicKey({ key: jwk, format: 'jwk' }), algorithms }]];
  } catch {
    return [];
  }
};

/** The header of a JWT in compact form (RFC 7515 section 7.1); undefined for any other kind of token. */
const headerOf = (token: string): { readonly alg: string } | undefined => {
  const segments = token.split('.');
  if (segments.length !== 3) return undefined;
  try {
    const header = JSON.parse(Buffer.from(segments[0] ?? '', 'base64url').toString());
    // Every JWS header names an algorithm (RFC 7515 section 4.1.1).
    return typeof header?.alg === 'string' ? header : undefined;
  } catch {
    return undefined;
  }
};

/** The claims of a JWT are a JSON object (RFC 7519 section 7.2); the library also accepts other payloads. */
const isClaims = (payload: unknown): payload is jwt.JwtPayload =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload);

const decoded = (token: string): jwt.Jwt | null => {
  try {
    return jwt.decode(token, { complete: true });
  } catch {
    return null;
  }
};

/**
 * Rejects JWTs that cannot be valid without asking identity: malformed, unsigned, and expired ones, and those
 * whose signature does not match a known key. A token that is not clearly a JWT is not rejected. It never
 * accepts a token: only identity does.
 *
 * jwks-rsa does not fit: it makes requests wait while it fetches the key of an unknown id, and forgets the known
 * keys while identity is unavailable.
 */
export class SignatureVerifier {
  readonly #options: SignatureVerifierOptions;
  #keys: ReadonlyMap<string, Key> = new Map();
  #requestedAt = Number.NEGATIVE_INFINITY;
  #fetchedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SignatureVerifierOptions) {
    this.#options = options;
  }

  /** Fetches the keys. The known ones stay if identity does not answer. */
  async load(): Promise<void> {
    this.#requestedAt = this.#options.clock();
    const answer = await this.#options.fetch();
    if (answer.outcome !== 'answered') return;
    this.#keys = new Map(answer.value.flatMap(readKey));
    this.#fetchedAt = this.#options.clock();
  }

  /** Whether a token is certainly invalid. Synchronous: a missing key is fetched for later tokens. */
  rejects(token: string): boolean {
    const header = headerOf(token);
    // Opaque tokens may have any form.
    if (!header) return false;
    const content = decoded(token);
    if (!content || !isClaims(content.payload) || header.alg === 'none') return true;
    const now = this.#options.clock() / 1000;
    const { exp } = content.payload;
    if (exp !== undefined && !(exp > now - CLOCK_TOLERANCE)) return true;
    const { kid } = content.header;
    const known = kid === undefined ? undefined : this.#keys.get(kid);
    this.#refresh(known !== undefined);
    return known !== undefined && !this.#isSignedBy(known, token);
  }

  #isSignedBy({ key, algorithms }: Key, token: string): boolean {
    try {
      jwt.verify(token, key, { algorithms, ignoreExpiration: true, ignoreNotBefore: true });
      return true;
    } catch {
      return false;
    }
  }

  #refresh(isKnown: boolean): void {
    const now = this.#options.clock();
    if (now - this.#requestedAt < MIN_INTERVAL || (isKnown && now - this.#fetchedAt < LIFETIME))
      return;
    void this.load();
  }
}
