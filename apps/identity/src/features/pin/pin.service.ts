import { HttpError, invalidField, validationFailed } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { Lockout } from '../../security/lockout.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { ReauthenticationService } from '../reauthentication/reauthentication.service.ts';
import type { PasswordConfirmation } from '../sign-in/password-confirmation.ts';
import type { PinRepository } from './pin.repository.ts';

interface Dependencies {
  readonly repository: PinRepository;
  readonly passwords: Passwords;
  readonly lockout: Lockout;
  readonly confirmation: PasswordConfirmation;
  readonly reauthentication: Pick<ReauthenticationService, 'demandRecent'>;
}

export interface NewPin {
  readonly pin: string;
  /** The same once more. */
  readonly confirmation: string;
}

/** What is told of a PIN that cannot be had, or is not the one that it should be. */
export const pinProblems = {
  wrong: 'the PIN is wrong',
  repeated: 'pin must not repeat a single digit',
  run: 'pin must not be a run of digits',
  unchanged: 'pin must be another one than before',
} as const;

/** Whether there is a PIN, and whether it can be used. */
export interface PinStatus {
  /** When it was set, or changed last; null where there is none. */
  readonly since: Date | null;
  /** Seconds until it can be tried again; null unless it is locked. */
  readonly lockedFor: number | null;
}

/** Each digit as far from the one before, round the clock of ten: 0 repeats, 1 ascends, 9 descends. */
const stepsOf = (pin: string): Set<number> =>
  new Set([...pin].slice(1).map((digit, i) => (Number(digit) - Number(pin[i]) + 10) % 10));

/** Why a PIN of six digits is too easy; undefined when it is not. `567890` counts as a run. */
const weaknessOf = (pin: string): string | undefined => {
  const [step, ...others] = stepsOf(pin);
  if (others.length > 0) return undefined;
  if (step === 0) return pinProblems.repeated;
  return step === 1 || step === 9 ? pinProblems.run : undefined;
};

/** 422 on a PIN that is too easy, or is the current one, and on a confirmation that is not equal. */
const refuseUnfit = ({ pin, confirmation }: NewPin, current: string | null = null): void => {
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
/** 409. */
export const isOn = (): HttpError => conflict('There is a PIN already.');
/** 409. */
export const isOff = (): HttpError => conflict('There is no PIN.');

/**
 * Six digits that unlock a session (decision I3). Setting, changing and removing them is 403
 * `reauthentication_required` without a recent authentication (decision I19).
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

  /**
   * Sets a PIN of six digits. 422 on one that is too easy or a confirmation that is not equal, 409 when
   * there is one.
   */
  async set(caller: UserCaller, given: NewPin, origin: Origin): Promise<void> {
    const { repository, passwords, reauthentication } = this.#use;
    const { pin } = given;
    await reauthentication.demandRecent(caller);
    refuseUnfit(given);
    if (await this.isEnabled(caller)) throw isOn();
    const hash = await passwords.hash(pin, caller.id);
    if (!(await repository.set(actorOf(caller, origin), hash))) throw isOn();
  }

  /**
   * Puts another PIN in the place of the current one. 422 on a wrong current one, one that is too easy or is
   * the same, or a confirmation that is not equal; 429 after too many wrong ones, for a growing time, whether
   * they were given here or to unlock a session; 409 where there is none.
   */
  async change(
    caller: UserCaller,
    given: NewPin & { readonly current: string },
    origin: Origin,
  ): Promise<void> {
    const { repository, passwords, lockout, reauthentication } = this.#use;
    const { id: userId } = caller;
    await reauthentication.demandRecent(caller);
    const stored = await repository.find(userId);
    if (!stored) throw isOff();
    refuseUnfit(given, given.current);
    const actor = actorOf(caller, origin);
    const isRight = await lockout.guess(userId, async () => {
      if (!(await passwords.matches(given.current, stored.hash, userId))) return null;
      const hash = await passwords.hash(given.pin, userId);
      if (await repository.replace(actor, stored.hash, hash)) return true;
      throw conflict('The PIN was changed at the same time. Try again.');
    });
    if (isRight) return;
    await repository.noteFailure(actor);
    throw invalidField('current_pin', pinProblems.wrong);
  }

  /**
   * Unlocks the caller's session and every token of it. 422 on a wrong PIN; 429 after too many, for a
   * growing time; 409 where there is none.
   */
  async verify(caller: UserCaller, pin: string, origin: Origin): Promise<void> {
    const { repository, passwords, lockout } = this.#use;
    const { id: userId, sessionId } = caller;
    const stored = await repository.find(userId);
    if (!stored) throw isOff();
    const isRight = await lockout.guess(userId, async () => {
      if (!(await passwords.matches(pin, stored.hash, userId))) return null;
      await repository.unlock(userId, sessionId);
      return true;
    });
    if (isRight) return;
    await repository.noteFailure(actorOf(caller, origin));
    throw invalidField('pin', pinProblems.wrong);
  }

  /** Removes the PIN; sessions that wait for it end. 422 on a wrong password, 409 where there is none. */
  async disable(caller: UserCaller, password: string, origin: Origin): Promise<void> {
    const { repository, confirmation, reauthentication } = this.#use;
    await reauthentication.demandRecent(caller);
    if (!(await this.isEnabled(caller))) throw isOff();
    await confirmation.demand(caller.id, password);
    if (!(await repository.remove(actorOf(caller, origin)))) throw isOff();
  }
}
