import type { Vault } from '@tessera/vault';
import type { TwoFactorService } from '../../features/two-factor/two-factor.service.ts';
import { ownCookie } from '../../http/session-cookie.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { Visit } from '../visit.ts';

interface SealedCodes {
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly codes: readonly string[];
}

interface Dependencies {
  readonly config: { readonly isLocal: boolean };
  readonly vault: Vault;
  readonly twoFactor: Pick<TwoFactorService, 'hasCodes'>;
}

const LIFETIME_MS = 30 * 60_000;
const PURPOSE = 'recovery codes that are shown';

/**
 * Keeps new recovery codes until the user confirms having saved them, because only hashes are stored and
 * reloading the page must show them again. They are kept encrypted in a cookie of the browser that created
 * them.
 */
export class ShownCodes {
  readonly #cookie: ReturnType<typeof ownCookie>;
  readonly #vault: Vault;
  readonly #twoFactor: Pick<TwoFactorService, 'hasCodes'>;

  constructor({ config, vault, twoFactor }: Dependencies) {
    this.#cookie = ownCookie('recovery-codes', config);
    this.#vault = vault;
    this.#twoFactor = twoFactor;
  }

  keep({ res }: Visit, { id: userId }: UserCaller, codes: readonly string[]): void {
    const stored: SealedCodes = { userId, expiresAt: Date.now() + LIFETIME_MS, codes };
    const sealed = this.#vault.seal(Buffer.from(JSON.stringify(stored)), PURPOSE);
    const { name, options } = this.#cookie;
    res.cookie(name, sealed.toString('base64url'), { ...options, maxAge: LIFETIME_MS });
  }

  /**
   * Null if there are none for this user, or they have expired. Codes that were replaced or removed in another browser
   * are forgotten, because they do not work.
   */
  async of(visit: Visit, user: UserCaller): Promise<readonly string[] | null> {
    const stored = this.#opened(this.#cookie.secretOf(visit.req) ?? '');
    if (stored?.userId !== user.id || stored.expiresAt <= Date.now()) return null;
    if (await this.#twoFactor.hasCodes(user, stored.codes)) return stored.codes;
    this.forget(visit);
    return null;
  }

  forget({ res }: Visit): void {
    res.clearCookie(this.#cookie.name, this.#cookie.options);
  }

  #opened(sealed: string): SealedCodes | null {
    try {
      return JSON.parse(this.#vault.open(Buffer.from(sealed, 'base64url'), PURPOSE).toString());
    } catch {
      // Missing or invalid.
      return null;
    }
  }
}
