import { HttpError, invalidField, validationFailed } from '@tessera/http-kit';
import { actorOf } from '../../activity.ts';
import type { Lockout } from '../../lockout.ts';
import type { Origin } from '../../origin.ts';
import type { Passwords } from '../../passwords.ts';
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

/** Each digit as far from the one before, round the clock of ten: 0 repeats, 1 ascends, 9 descends. */
const stepsOf = (pin: string): Set<number> =>
  new Set([...pin].slice(1).map((digit, i) => (Number(digit) - Number(pin[i]) + 10) % 10));

/** Why a PIN of six digits is too easy; undefined when it is not. `567890` counts as a run. */
const weaknessOf = (pin: string): string | undefined => {
  const [step, ...others] = stepsOf(pin);
  if (others.length > 0) return undefined;
  if (step === 0) return 'pin must not repeat a single digit';
  return step === 1 || step === 9 ? 'pin must not be a run of digits' : undefined;
};

const refuseUnfit = ({ pin, confirmation }: NewPin): void => {
  const weakness = weaknessOf(pin);
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
 * Six digits that unlock a session (decision I3). Setting and removing them is 403
 * `reauthentication_required` without a recent authentication (decision I19).
 */
export class PinService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  async isEnabled({ id }: UserCaller): Promise<boolean> {
    return (await this.#use.repository.hash(id)) !== null;
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
   * Unlocks the caller's session and every token of it. 422 on a wrong PIN; 429 after too many, for a
   * growing time; 409 where there is none.
   */
  async verify(caller: UserCaller, pin: string, origin: Origin): Promise<void> {
    const { repository, passwords, lockout } = this.#use;
    const { id: userId, sessionId } = caller;
    const hash = await repository.hash(userId);
    if (hash === null) throw isOff();
    const isRight = await lockout.guess(userId, async () => {
      if (!(await passwords.matches(pin, hash, userId))) return null;
      await repository.unlock(userId, sessionId);
      return true;
    });
    if (isRight) return;
    await repository.noteFailure(actorOf(caller, origin));
    throw invalidField('pin', 'the PIN is wrong');
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
