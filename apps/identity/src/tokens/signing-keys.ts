import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import type { Vault } from '@tessera/vault';
import { advisoryLocks, type Database, type Transaction } from '../database.ts';
import { type PublicJwk, type PublishedKey, publishedKey, thumbprint } from './jwk.ts';

const DAY = 86_400_000;

/** How often a replica checks for new and retired keys: the longest time that it uses a retired one. */
export const REFRESH_MS = 5000;
/** Minimum interval between lookups of unknown key ids. */
const UNKNOWN_KEY_MS = 1000;
/** Time between publishing and using a new key: longer than caches of the JWKS keep it (five minutes). */
const LEAD_MS = 10 * 60_000;
/** The longest lifetime of a token (API keys), for which a replaced key stays published. */
const MAX_TOKEN_MS = 366 * DAY;

/** Ending all tokens of a key can take long. */
const TRANSACTION = { timeout: 60_000 };

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

/** A key that is rotated in or retired. */
export interface ChangedKey {
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

/** The ES256 keys of the issuer, stored in the database and shared by all replicas (decision I17). */
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

  /** Creates the first key if there is none. Replicas that start at the same time agree on one. */
  async start(): Promise<void> {
    await this.#locked(async (tx) => {
      const usable = await tx.signingKey.count({ where: { removedAt: null } });
      // There was no key, so no cached JWKS can lack this one.
      if (usable === 0) await this.#insert(tx, new Date());
    });
    await this.#read();
    await this.signing();
  }

  /** Refreshes the keys periodically, so that an idle replica does not sign with a retired key. */
  watch(): void {
    this.#timer = setInterval(() => this.#refresh(0).catch(() => undefined), REFRESH_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  /**
   * The current signing key. Does not wait for a refresh, because it is called in transactions, and if these
   * held all connections, the refresh would wait for them. A key that is no longer the newest is still valid.
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

  /** The key with this id, to sign a token whose record names it. Throws if it is retired or unknown. */
  signingAs(kid: string): SigningKey {
    const known = this.#known.get(kid);
    if (!known) throw new Error(`The signing key ${kid} is out of use.`);
    return this.#open(known);
  }

  /** All published keys that can sign, the current one first. */
  async forSigning(): Promise<SigningKey[]> {
    const { kid } = await this.signing();
    const began = [...this.#known.values()].filter(({ signsFrom }) => +signsFrom <= Date.now());
    const keys = began.map((known) => this.#open(known));
    return keys.sort((a, b) => Number(b.kid === kid) - Number(a.kid === kid));
  }

  /** The public key with this id; undefined if it does not exist. */
  async find(kid: string): Promise<KeyObject | undefined> {
    await this.#refresh(this.#known.has(kid) ? REFRESH_MS : UNKNOWN_KEY_MS);
    return this.#known.get(kid)?.publicKey;
  }

  /** The JWKS (RFC 7517): includes the next key, and earlier keys whose tokens may still be valid. */
  async published(): Promise<PublishedKey[]> {
    await this.#refresh(REFRESH_MS);
    return [...this.#known.values()].map(({ kid, publicJwk }) => publishedKey(kid, publicJwk));
  }

  /**
   * Creates the next key, which is published now and signs in ten minutes, when caches of the JWKS have it. The
   * previous key stays published until its last token has expired. `record` runs in the same transaction.
   */
  async rotate(
    record: (tx: Transaction, next: ChangedKey) => Promise<void> = async () => undefined,
  ): Promise<ChangedKey> {
    const next = await this.#locked(async (tx) => {
      const signsFrom = new Date(Date.now() + LEAD_MS);
      await tx.signingKey.updateMany({
        where: { removedAt: null },
        data: { removedAt: new Date(+signsFrom + MAX_TOKEN_MS) },
      });
      const next = { kid: await this.#insert(tx, signsFrom), signsFrom };
      await record(tx, next);
      return next;
    });
    await this.#read();
    return next;
  }

  /**
   * Retires a key and removes it from the JWKS immediately (decision I23). If it is the current key, the next
   * key, or a new one, signs from now on. Throws if the key does not exist. `endTokens` ends the tokens that it
   * signed, in the same transaction.
   */
  async retire<T>(
    kid: string,
    endTokens: (tx: Transaction, key: ChangedKey) => Promise<T>,
  ): Promise<T> {
    const result = await this.#locked(async (tx) => {
      const now = new Date();
      const key = await tx.signingKey.findUnique({ where: { kid } });
      if (!key) throw new Error(`There is no signing key ${kid}.`);
      await tx.signingKey.updateMany({
        where: { kid, retiredAt: null },
        data: { retiredAt: now, removedAt: now },
      });
      await this.#requireSuccessor(tx, key.signsFrom, now);
      return endTokens(tx, key);
    });
    await this.#read();
    return result;
  }

  /** Ensures that another key signs from the time at which the retired one would have. */
  async #requireSuccessor(tx: Transaction, since: Date, now: Date): Promise<void> {
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

  /** Reads the keys unless they were read within `maxAge` milliseconds. Concurrent calls share one read. */
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

/** The purpose that a private key is sealed with, so that it cannot be opened in another row. */
export const signingKeyPurpose = (kid: string): string => `signing key ${kid}`;
