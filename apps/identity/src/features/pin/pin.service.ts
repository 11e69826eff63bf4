import { HttpError, invalidField, validationFailed } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import { signedIn } from '../../passwords/hashing-for.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { Lockout } from '../../security/lockout.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { ReauthenticationService } from '../reauthentication/reauthentication.service.ts';
import type { PasswordConfirmation } from '../sign-in/password-confirmation.ts';
import type { PinRepository } from './pin.repository.ts';
import { hashOf, sealHash } from './pin-hash.ts';

interface Dependencies {
  readonly repository: PinRepository;
  readonly passwords: Passwords;
  readonly vault: Vault;
  readonly lockout: Lockout;
  readonly confirmation: PasswordConfirmation;
  readonly reauthentication: Pick<ReauthenticationService, 'requireRecent'>;
}

export interface NewPin {
  readonly pin: string;
  /** Repetition of the PIN. */
  readonly confirmation: string;
}

/** Validation messages of a PIN. */
export const pinProblems = {
  wrong: 'the PIN is wrong',
  repeated: 'pin must not repeat a single digit',
  run: 'pin must not consist of consecutive digits',
  unchanged: 'pin must differ from the current PIN',
} as const;

/** The state of the PIN. */
export interface PinStatus {
  /** When it was last set or changed; null if there is none. */
  readonly since: Date | null;
  /** Seconds until the lockout ends; null if not locked. */
  readonly lockedFor: number | null;
}

/** Differences between adjacent digits modulo 10: 0 repeats, 1 ascends, 9 descends. */
const stepsOf = (pin: string): Set<number> =>
  new Set([...pin].slice(1).map((digit, i) => (Number(digit) - Number(pin[i]) + 10) % 10));

/** Why a PIN is too easy to guess; undefined if it is not. `567890` counts as consecutive. */
const weaknessOf = (pin: string): string | undefined => {
  const [step, ...others] = stepsOf(pin);
  if (others.length > 0) return undefined;
  if (step === 0) return pinProblems.repeated;
  return step === 1 || step === 9 ? pinProblems.run : undefined;
};

/** 422 if the PIN is too easy or unchanged, or the confirmation differs. */
const requireAcceptable = ({ pin, confirmation }: NewPin, current: string | null = null): void => {
  const weakness = weaknessOf(pin) ?? (pin === current ? pinProblems.unchanged : undefined);
  const errors = {
    ...(weakness && { pin: [weakness] }),
    ...(pin !== confirmation && {
      pin_confirmation: ['pin_confirmation must be the same as pin'],
    }),
  };
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
};

const conflict = (message: string): HttpError => new HttpError(409, 'conflict', message);
const pinChanged = (): HttpError => conflict('The PIN was changed at the same time. Try again.');
/** 409 */
export const pinExists = (): HttpError => conflict('A PIN is already set.');
/** 409 */
export const noPin = (): HttpError => conflict('No PIN is set.');

/**
 * A PIN of six digits that unlocks a session (decision I3). Setting, changing or removing it requires a recent
 * authentication: 403 `reauthentication_required` (decision I19).
 */
export class PinService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  async isEnabled({ id }: UserCaller): Promise<boolean> {
    return (await this.#use.repository.find(id)) !== null;
  }

  async status({ id }: UserCaller): Promise<PinStatus> {
    const stored = await this.#use.repository.find(id);
    const left = (stored?.lockedUntil?.getTime() ?? 0) - Date.now();
    return {
      since: stored?.createdAt ?? null,
      lockedFor: left > 0 ? Math.ceil(left / 1000) : null,
    };
  }

  /** Sets a PIN. 422 if it is too easy or the confirmation differs, 409 if a PIN is already set. */
  async set(caller: UserCaller, given: NewPin, origin: Origin): Promise<void> {
    const { repository, passwords, vault, reauthentication } = this.#use;
    const { pin } = given;
    await reauthentication.requireRecent(caller);
    requireAcceptable(given);
    if (await this.isEnabled(caller)) throw pinExists();
    const sealed = sealHash(vault, caller.id, await passwords.hash(pin, signedIn(caller.id)));
    const author = { caller, actor: actorOf(caller, origin) };
    if (!(await repository.set(author, sealed))) throw pinExists();
  }

  /**
   * Replaces the current PIN. 422 if the current PIN is wrong, the new one is too easy or unchanged, or the
   * confirmation differs; 429 after too many wrong PINs, here or when unlocking, for increasing periods; 409 if
   * no PIN is set.
   */
  async change(
    caller: UserCaller,
    given: NewPin & { readonly current: string },
    origin: Origin,
  ): Promise<void> {
    const { repository, passwords, vault, lockout, reauthentication } = this.#use;
    const { id: userId } = caller;
    await reauthentication.requireRecent(caller);
    const stored = await repository.find(userId);
    if (!stored) throw noPin();
    requireAcceptable(given, given.current);
    const actor = actorOf(caller, origin);
    const isCorrect = await lockout.attempt('pin', userId, async () => {
      if (!(await passwords.matches(given.current, hashOf(vault, stored), signedIn(userId))))
        return null;
      const sealed = sealHash(vault, userId, await passwords.hash(given.pin, signedIn(userId)));
      if (await repository.replace({ caller, actor }, stored, sealed)) return true;
      throw pinChanged();
    });
    if (isCorrect) return;
    await repository.noteFailure(actor);
    throw invalidField('current_pin', pinProblems.wrong);
  }

  /**
   * Unlocks the caller's session and all its tokens. 422 on a wrong PIN; 429 after too many, for increasing
   * periods; 409 if no PIN is set.
   */
  async verify(caller: UserCaller, pin: string, origin: Origin): Promise<void> {
    const { repository, passwords, vault, lockout } = this.#use;
    const { id: userId, sessionId } = caller;
    const stored = await repository.find(userId);
    if (!stored) throw noPin();
    const isCorrect = await lockout.attempt('pin', userId, async () => {
      if (!(await passwords.matches(pin, hashOf(vault, stored), signedIn(userId)))) return null;
      if (await repository.unlock(userId, sessionId, stored)) return true;
      throw pinChanged();
    });
    if (isCorrect) return;
    await repository.noteFailure(actorOf(caller, origin));
    throw invalidField('pin', pinProblems.wrong);
  }

  /**
   * Removes the PIN and ends the sessions that it locks. 422 on a wrong password, 409 if no PIN is set.
   */
  async disable(caller: UserCaller, password: string, origin: Origin): Promise<void> {
    const { repository, confirmation, reauthentication } = this.#use;
    await reauthentication.requireRecent(caller);
    if (!(await this.isEnabled(caller))) throw noPin();
    const verified = await confirmation.demand(caller.id, password);
    const author = { caller, actor: actorOf(caller, origin) };
    if (!(await repository.remove(author, verified))) throw noPin();
  }
}
