import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Answer } from './identity-client.ts';

export interface SignaturesOptions {
  /** Fetches identity's keys (RFC 7517). */
  ask(): Promise<Answer<readonly JsonWebKey[]>>;
  /** Milliseconds since the epoch. */
  clock(): number;
}

interface Key {
  readonly key: KeyObject;
  readonly algorithms: jwt.Algorithm[];
}

/** A kid that nobody knows must not become a way to make CRM ask identity over and over. */
const PAUSE = 5_000;
/** After this keys are fetched again, so that a retired one does not count for good. */
const LIFETIME = 300_000;
/** Clocks differ a little, and only identity's own is right; in seconds. */
const TOLERANCE = 10;

const byCurve: Readonly<Record<string, jwt.Algorithm[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
};
const rsa: jwt.Algorithm[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];

/** A key that can be checked here; a token of any other key is for identity to judge. */
const readKey = (jwk: JsonWebKey): [string, Key][] => {
  const algorithms = jwk.kty === 'RSA' ? rsa : byCurve[jwk.crv ?? ''];
  if (typeof jwk.kid !== 'string' || !algorithms || jwk.use === 'enc') return [];
  try {
    return [[jwk.kid, { key: createPublicKey({ key: jwk, format: 'jwk' }), algorithms }]];
  } catch {
    return [];
  }
};

/** The header of a JWT in compact form (RFC 7515 section 7.1); undefined for every other kind of token. */
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

/** The claims of a JWT are a JSON object (RFC 7519 section 7.2), whatever the library takes them for. */
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
 * Refuses JWTs that cannot be valid without asking identity: malformed, unsigned or expired ones, and
 * those whose signature does not match a known key. A token that is not clearly a JWT is not refused.
 * It never admits a token: only identity does.
 */
export class Signatures {
  readonly #options: SignaturesOptions;
  #keys: ReadonlyMap<string, Key> = new Map();
  #askedAt = Number.NEGATIVE_INFINITY;
  #fetchedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SignaturesOptions) {
    this.#options = options;
  }

  /** Fetches the keys. Where none are to be had, what was known stays. */
  async load(): Promise<void> {
    this.#askedAt = this.#options.clock();
    const answer = await this.#options.ask();
    if (answer.outcome !== 'answered') return;
    this.#keys = new Map(answer.value.flatMap(readKey));
    this.#fetchedAt = this.#options.clock();
  }

  /** Whether a token is surely not good. Never waits: keys that are missing come for the next one. */
  refuses(token: string): boolean {
    const header = headerOf(token);
    // Opaque tokens may look like anything: only identity knows them.
    if (!header) return false;
    const content = decoded(token);
    if (!content || !isClaims(content.payload) || header.alg === 'none') return true;
    const now = this.#options.clock() / 1000;
    const { exp } = content.payload;
    if (exp !== undefined && !(exp > now - TOLERANCE)) return true;
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
    if (now - this.#askedAt < PAUSE || (isKnown && now - this.#fetchedAt < LIFETIME)) return;
    void this.load();
  }
}
