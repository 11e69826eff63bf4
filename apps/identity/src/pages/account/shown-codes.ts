import type { Vault } from '@tessera/vault';
import { ownCookie } from '../../http/session-cookie.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { Visit } from '../visit.ts';

interface Kept {
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly codes: readonly string[];
}

const LIFETIME_MS = 30 * 60_000;
const PURPOSE = 'recovery codes that are shown';

/**
 * Fresh recovery codes, until their owner says that they have saved them: only hashes of them are stored, and
 * a page that is loaded again must still show them. They are sealed in a cookie of the browser that made them.
 */
export class ShownCodes {
  readonly #cookie: ReturnType<typeof ownCookie>;
  readonly #vault: Vault;

  constructor(config: { readonly isLocal: boolean }, vault: Vault) {
    this.#cookie = ownCookie('recovery-codes', config);
    this.#vault = vault;
  }

  keep({ res }: Visit, { id: userId }: UserCaller, codes: readonly string[]): void {
    const kept: Kept = { userId, expiresAt: Date.now() + LIFETIME_MS, codes };
    const sealed = this.#vault.seal(Buffer.from(JSON.stringify(kept)), PURPOSE);
    const { name, options } = this.#cookie;
    res.cookie(name, sealed.toString('base64url'), { ...options, maxAge: LIFETIME_MS });
  }

  /** Null where there are none to be shown to this user, or no longer. */
  of({ req }: Visit, { id }: UserCaller): readonly string[] | null {
    const kept = this.#opened(this.#cookie.secretOf(req) ?? '');
    const isTheirs = kept?.userId === id && kept.expiresAt > Date.now();
    return isTheirs ? kept.codes : null;
  }

  forget({ res }: Visit): void {
    res.clearCookie(this.#cookie.name, this.#cookie.options);
  }

  #opened(sealed: string): Kept | null {
    try {
      return JSON.parse(this.#vault.open(Buffer.from(sealed, 'base64url'), PURPOSE).toString());
    } catch {
      // None, or not of ours.
      return null;
    }
  }
}
