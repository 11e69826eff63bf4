import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import type { Vault } from '@tessera/vault';
import { advisoryLocks, type Database, type Transaction } from '../database.ts';

const DAY = 86_400_000;

/** How often a replica looks for keys that were made or retired elsewhere: a retired one is used for no longer. */
export const REFRESH_MS = 5000;
/** A stranger's `kid` costs one look a second, not one a request. */
const UNKNOWN_KEY_MS = 1000;
/** Caches of the JWKS (five minutes) and all replicas know a new key before it signs. */
const LEAD_MS = 10 * 60_000;
/** API keys live longest: a key that signs no more is published for them. */
const LONGEST_TOKEN_MS = 366 * DAY;

/** To end every token of a key takes a while. */
const TRANSACTION = { timeout: 60_000 };

/** The members that RFC 7518 section 6.2.1 names for an elliptic curve. */
type PublicJwk = {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y: string;
};

/** A key of the JWKS (RFC 7517). */
export type PublishedKey = PublicJwk & {
  readonly kid: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
};

/** RFC 7638: members in this order, without white space. */
const thumbprint = ({ crv, kty, x, y }: PublicJwk): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

/** A key that was taken out of use. */
export interface RetiredKey {
  readonly kid: string;
  /** It signed nothing before. */
  readonly signsFrom: Date;
}

interface Known {
  readonly kid: string;
  readonly publicJwk: PublicJwk;
  readonly publicKey: KeyObject;
  readonly sealedPrivate: Uint8Array;
  readonly signsFrom: Date;
}

/** The ES256 keys of the issuer: kept in the database, shared by all replicas (decision I17). */
export class SigningKeys {
  readonly #database: Database;
  readonly #vault: Vault;
  readonly #opened = new Map<string, SigningKey>();
  #known = new Map<string, Known>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  /** Makes the first key where there is none. Replicas that start together agree on one. */
  async start(): Promise<void> {
    await this.#locked(async (tx) => {
      const usable = await tx.signingKey.count({ where: { removedAt: null } });
      // Nobody can hold a set of keys without it: there was none.
      if (usable === 0) await this.#insert(tx, new Date());
    });
    await this.#read();
    await this.signing();
  }

  /** Keeps the set fresh without anybody asking, so that an idle replica does not sign with a retired key. */
  watch(): void {
    this.#timer = setInterval(() => this.#refresh(0).catch(() => undefined), REFRESH_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  /**
   * The key to sign with. It waits for no reading: it is called in transactions, and were every connection
   * held by one of those, the reading would wait for them. A key that is no longer the newest signs well.
   */
  async signing(): Promise<SigningKey> {
    this.#refresh(REFRESH_MS).catch(() => undefined);
    const now = Date.now();
    const [newest] = [...this.#known.values()]
      .filter(({ signsFrom }) => +signsFrom <= now)
      .sort((a, b) => +b.signsFrom - +a.signsFrom);
    if (!newest) throw new Error('There is no key to sign with.');
    return this.#open(newest);
  }

  /** The key with that id, to sign a token whose record names it. Throws where it is out of use. */
  signingAs(kid: string): SigningKey {
    const known = this.#known.get(kid);
    if (!known) throw new Error(`The signing key ${kid} is out of use.`);
    return this.#open(known);
  }

  /** Every published key that has begun to sign, the one that signs now first. */
  async forSigning(): Promise<SigningKey[]> {
    const { kid } = await this.signing();
    const began = [...this.#known.values()].filter(({ signsFrom }) => +signsFrom <= Date.now());
    const keys = began.map((known) => this.#open(known));
    return keys.sort((a, b) => Number(b.kid === kid) - Number(a.kid === kid));
  }

  /** The public key of that id; undefined where there is none, also in the database. */
  async find(kid: string): Promise<KeyObject | undefined> {
    await this.#refresh(this.#known.has(kid) ? REFRESH_MS : UNKNOWN_KEY_MS);
    return this.#known.get(kid)?.publicKey;
  }

  /** What the JWKS publishes (RFC 7517): also the key that will sign soon, and those of living tokens. */
  async published(): Promise<PublishedKey[]> {
    await this.#refresh(REFRESH_MS);
    return [...this.#known.values()].map(({ kid, publicJwk }) => {
      const { kty, crv, x, y } = publicJwk;
      return { kty, crv, x, y, kid, alg: 'ES256', use: 'sig' };
    });
  }

  /**
   * Makes the next key: published now, signing ten minutes from now, so that whoever keeps a copy of the
   * JWKS has it by then. The one before it stays published until the last token of it has expired.
   */
  async rotate(): Promise<{ readonly kid: string; readonly signsFrom: Date }> {
    const next = await this.#locked(async (tx) => {
      const signsFrom = new Date(Date.now() + LEAD_MS);
      await tx.signingKey.updateMany({
        where: { removedAt: null },
        data: { removedAt: new Date(+signsFrom + LONGEST_TOKEN_MS) },
      });
      return { kid: await this.#insert(tx, signsFrom), signsFrom };
    });
    await this.#read();
    return next;
  }

  /**
   * Takes a key out of use and out of the JWKS at once (decision I23). Where it is the newest one that
   * signs, its successor signs from now on: the next key, or a new one. Throws where there is no such key.
   * The tokens that it signed are for `endTokens` to end, in the same transaction.
   */
  async retire<T>(
    kid: string,
    endTokens: (tx: Transaction, key: RetiredKey) => Promise<T>,
  ): Promise<T> {
    const result = await this.#locked(async (tx) => {
      const now = new Date();
      const key = await tx.signingKey.findUnique({ where: { kid } });
      if (!key) throw new Error(`There is no signing key ${kid}.`);
      await tx.signingKey.updateMany({
        where: { kid, retiredAt: null },
        data: { retiredAt: now, removedAt: now },
      });
      await this.#demandSuccessor(tx, key.signsFrom, now);
      return endTokens(tx, key);
    });
    await this.#read();
    return result;
  }

  /** Another key, no older than the one that went, signs as soon as that one did. */
  async #demandSuccessor(tx: Transaction, since: Date, now: Date): Promise<void> {
    const newer = await tx.signingKey.findFirst({
      where: {
        signsFrom: { gte: since },
        retiredAt: null,
        OR: [{ removedAt: null }, { removedAt: { gt: now } }],
      },
      orderBy: { signsFrom: 'asc' },
    });
    if (!newer) await this.#insert(tx, since > now ? new Date(+now + LEAD_MS) : now);
    else if (since > now) return;
    else if (newer.signsFrom > now) {
      await tx.signingKey.update({ where: { kid: newer.kid }, data: { signsFrom: now } });
    }
  }

  #locked<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${advisoryLocks.signingKeys})`;
      return work(tx);
    }, TRANSACTION);
  }

  async #insert(tx: Transaction, signsFrom: Date): Promise<string> {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const publicJwk = publicKey.export({ format: 'jwk' }) as PublicJwk;
    const kid = thumbprint(publicJwk);
    const plain = privateKey.export({ format: 'der', type: 'pkcs8' });
    const sealedPrivate = new Uint8Array(this.#vault.seal(plain, signingKeyPurpose(kid)));
    await tx.signingKey.create({
      data: { kid, publicJwk, sealedPrivate, signsFrom },
    });
    return kid;
  }

  #open({ kid, sealedPrivate }: Known): SigningKey {
    const opened = this.#opened.get(kid);
    if (opened) return opened;
    const der = this.#vault.open(sealedPrivate, signingKeyPurpose(kid));
    const key = { kid, privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) };
    this.#opened.set(kid, key);
    return key;
  }

  /** Reads the keys unless they were read within so many milliseconds; never twice at once. */
  async #refresh(maxAge: number): Promise<void> {
    if (performance.now() - this.#readAt < maxAge) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const readAt = performance.now();
    const rows = await this.#database.signingKey.findMany({
      where: { retiredAt: null, OR: [{ removedAt: null }, { removedAt: { gt: new Date() } }] },
      orderBy: { signsFrom: 'desc' },
    });
    this.#known = new Map(
      rows.map(({ kid, publicJwk, sealedPrivate, signsFrom }) => {
        const jwk = publicJwk as PublicJwk;
        const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
        return [kid, { kid, publicJwk: jwk, publicKey, sealedPrivate, signsFrom }];
      }),
    );
    this.#readAt = readAt;
  }
}

/** What a private part is sealed for: it opens in no other row. */
export const signingKeyPurpose = (kid: string): string => `signing key ${kid}`;
