import { randomBytes } from 'node:crypto';
import { HttpError, invalidField } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import { type Actor, actorOf, note } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { TwoFactor } from '../../generated/prisma/client.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Lockout } from '../../security/lockout.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { DevicesService } from '../devices/devices.service.ts';
import type { ReauthenticationService } from '../reauthentication/reauthentication.service.ts';
import { type PasswordConfirmation, requireUnchanged } from '../sign-in/password-confirmation.ts';
import type { Client, SignedIn, SignInService } from '../sign-in/sign-in.service.ts';
import { type GivenCode, newRecoveryCodes, parseCode } from './codes.ts';
import type { Totp } from './totp.ts';
import type { TwoFactorRepository } from './two-factor.repository.ts';

/** The secret in the forms that authenticator apps accept. */
export interface AppSecret {
  /** PNG as a data URI. */
  readonly qrCode: string;
  /** Base32. */
  readonly secret: string;
  /** The `otpauth:` URI for an app on the same device. */
  readonly uri: string;
}

/** Everything needed to set up an authenticator app; the recovery codes are shown once. */
export interface Enrolment extends AppSecret {
  readonly recoveryCodes: readonly string[];
}

export interface TwoFactorStatus {
  /** When it was confirmed; null if not enabled. */
  readonly since: Date | null;
  /** Number of unused recovery codes; 0 if not enabled. */
  readonly codesLeft: number;
}

export interface Verified {
  /** The completed sign-in; null if the caller was already signed in. */
  readonly signedIn: SignedIn | null;
  /** Number of unused recovery codes; null if none was used now. */
  readonly codesLeft: number | null;
}

interface Dependencies {
  readonly repository: TwoFactorRepository;
  readonly totp: Totp;
  readonly vault: Vault;
  readonly lockout: Lockout;
  readonly passwords: PasswordConfirmation;
  readonly devices: DevicesService;
  readonly signIn: SignInService;
  readonly mails: SecurityMails;
  readonly reauthentication: Pick<ReauthenticationService, 'requireRecent'>;
}

/** How long an unconfirmed secret can be shown again. */
const PENDING_MS = 3600_000;

/** RFC 4226 section 4 recommends 160 bits. */
const SECRET_BYTES = 20;

/** Associated data of the encryption, which binds a secret to its user. */
export const twoFactorPurpose = (userId: string): string => `two-factor ${userId}`;

/**
 * How pngjs encodes a QR code: without trying filters for each line, which takes most of the time, and with zlib's
 * default strategy, which makes a smaller image than that of pngjs. Another thread deflates.
 */
const QR_ENCODING = { filterType: 0, deflateStrategy: 0 };

const conflict = (message: string): HttpError => new HttpError(409, 'conflict', message);
/** 409 */
export const notEnabled = (): HttpError => conflict('Two-factor authentication is not enabled.');
/** 409 */
export const alreadyEnabled = (): HttpError =>
  conflict('Two-factor authentication is already enabled.');
const wrongCode = (): HttpError =>
  invalidField('code', 'the code is wrong, expired or already used');

/**
 * One-time passwords and recovery codes (decision I2). Setting up, replacing or removing them requires a recent
 * authentication: 403 `reauthentication_required` (decision I19).
 */
export class TwoFactorService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Creates an unconfirmed secret; 409 if two-factor authentication is already enabled. */
  async enable(caller: UserCaller): Promise<Enrolment> {
    const { repository, vault } = this.#use;
    const { id: userId } = caller;
    await this.#use.reauthentication.requireRecent(caller);
    const secret = randomBytes(SECRET_BYTES);
    const recoveryCodes = newRecoveryCodes();
    const sealed = new Uint8Array(vault.seal(secret, twoFactorPurpose(userId)));
    await repository.changeAs(caller, async (tx) => {
      const known = await repository.find(userId, tx);
      if (known?.confirmedAt) throw alreadyEnabled();
      await repository.begin(tx, userId, sealed);
      await repository.replaceCodes(tx, userId, recoveryCodes);
    });
    return { ...(await this.#forApp(caller, secret)), recoveryCodes };
  }

  async status({ id }: UserCaller): Promise<TwoFactorStatus> {
    const { repository } = this.#use;
    const since = (await repository.find(id))?.confirmedAt ?? null;
    return { since, codesLeft: since === null ? 0 : await repository.codesLeft(id) };
  }

  /** Whether these are the caller's recovery codes, and have not been replaced or removed. */
  hasCodes({ id }: UserCaller, codes: readonly string[]): Promise<boolean> {
    return this.#use.repository.hasCodes(id, codes);
  }

  /** The unconfirmed secret created by `enable` within the last hour; null if there is none. */
  async pending(caller: UserCaller): Promise<AppSecret | null> {
    const { repository, vault, reauthentication } = this.#use;
    await reauthentication.requireRecent(caller);
    const known = await repository.find(caller.id);
    if (!known || known.confirmedAt) return null;
    if (known.createdAt.getTime() < Date.now() - PENDING_MS) return null;
    const { sealedSecret } = known;
    return this.#forApp(caller, vault.open(sealedSecret, twoFactorPurpose(caller.id)));
  }

  /**
   * Enables two-factor authentication with a first code. 422 on a wrong code, 409 if there is nothing to
   * confirm.
   */
  async confirm(caller: UserCaller, typed: string, origin: Origin): Promise<void> {
    await this.#confirm(caller, typed, origin, null);
  }

  /** As `confirm`, but returns new recovery codes in place of those of `enable`. */
  async confirmWithCodes(caller: UserCaller, typed: string, origin: Origin): Promise<string[]> {
    const codes = newRecoveryCodes();
    await this.#confirm(caller, typed, origin, codes);
    return codes;
  }

  async #confirm(
    caller: UserCaller,
    typed: string,
    origin: Origin,
    recoveryCodes: readonly string[] | null,
  ): Promise<void> {
    const { repository, devices } = this.#use;
    const { id: userId } = caller;
    await this.#use.reauthentication.requireRecent(caller);
    const code = parseCode(typed);
    await repository.changeAs(caller, async (tx) => {
      const known = await repository.find(userId, tx);
      if (!known) throw conflict('Start with `POST /api/auth/2fa/enable`.');
      if (known.confirmedAt) throw alreadyEnabled();
      const step = this.#stepOf(known, code);
      if (step === null) throw wrongCode();
      await repository.confirm(tx, userId, step);
      if (recoveryCodes) await repository.replaceCodes(tx, userId, recoveryCodes);
      await devices.endTrust(tx, userId);
      await note(tx, actorOf(caller, origin), 'two_factor_enabled');
      await this.#use.mails.notify(
        tx,
        userId,
        { kind: 'factor_added', factor: 'two_factor' },
        origin,
      );
    });
  }

  /**
   * Verifies a one-time password or a recovery code, each of which works once, and completes a pending sign-in.
   * 422 on a wrong code; 429 after too many, for increasing periods; 409 if not enabled.
   */
  async verify(
    caller: UserCaller,
    given: { readonly code: string; readonly trustDevice: boolean },
    client: Client,
  ): Promise<Verified> {
    const { repository, lockout } = this.#use;
    const { id: userId } = caller;
    await this.#requireEnabled(userId);
    const actor = actorOf(caller, client);
    const code = parseCode(given.code);
    const verified = await lockout.attempt(code.kind, userId, () =>
      repository.change(userId, async (tx) => {
        const used = await this.#useCode(tx, await this.#requireEnabled(userId, tx), code, actor);
        if (!used) return null;
        const { signedIn, deviceSecret } = await this.#completeSignIn(tx, caller, client);
        if (given.trustDevice) await this.#use.devices.trust(tx, userId, deviceSecret, actor);
        return { signedIn, codesLeft: used.codesLeft };
      }),
    );
    if (verified) return verified;
    await repository.noteFailure(actor);
    throw wrongCode();
  }

  /** 422 on a wrong password, 409 if not enabled. */
  async disable(caller: UserCaller, password: string, origin: Origin): Promise<void> {
    const { repository, devices } = this.#use;
    await this.#changeWithPassword(caller, password, async (tx) => {
      await repository.remove(tx, caller.id);
      await devices.endTrust(tx, caller.id);
      await note(tx, actorOf(caller, origin), 'two_factor_disabled');
      await this.#use.mails.notify(
        tx,
        caller.id,
        { kind: 'factor_removed', factor: 'two_factor' },
        origin,
      );
    });
  }

  /** Replaces the recovery codes. 422 on a wrong password, 409 if not enabled. */
  async replaceCodes(caller: UserCaller, password: string, origin: Origin): Promise<string[]> {
    const codes = newRecoveryCodes();
    await this.#changeWithPassword(caller, password, async (tx) => {
      await this.#use.repository.replaceCodes(tx, caller.id, codes);
      await note(tx, actorOf(caller, origin), 'recovery_codes_replaced');
      await this.#use.mails.notify(tx, caller.id, { kind: 'recovery_codes_replaced' }, origin);
    });
    return codes;
  }

  async #changeWithPassword(
    caller: UserCaller,
    password: string,
    work: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { repository, passwords } = this.#use;
    const { id: userId } = caller;
    await this.#use.reauthentication.requireRecent(caller);
    await this.#requireEnabled(userId);
    const verified = await passwords.demand(userId, password);
    await repository.changeAs(caller, async (tx) => {
      await requireUnchanged(tx, verified);
      await this.#requireEnabled(userId, tx);
      await work(tx);
    });
  }

  async #requireEnabled(userId: string, tx?: Transaction): Promise<TwoFactor> {
    const known = await this.#use.repository.find(userId, tx);
    if (!known?.confirmedAt) throw notEnabled();
    return known;
  }

  async #forApp({ id, email }: UserCaller, secret: Buffer): Promise<AppSecret> {
    const { totp } = this.#use;
    const uri = totp.uri(secret, email ?? id);
    // Loaded when it is needed, which is rare: the encoder of images takes a megabyte.
    const { default: qrcode } = await import('qrcode');
    const image = await qrcode.toBuffer(uri, { rendererOpts: { ...QR_ENCODING } });
    const qrCode = `data:image/png;base64,${image.toString('base64')}`;
    return { qrCode, secret: totp.text(secret), uri };
  }

  #stepOf({ userId, sealedSecret }: TwoFactor, code: GivenCode): bigint | null {
    if (code.kind !== 'totp') return null;
    const secret = this.#use.vault.open(sealedSecret, twoFactorPurpose(userId));
    return this.#use.totp.stepOf(secret, code.digits);
  }

  /** Null if the code is wrong or already used. */
  async #useCode(
    tx: Transaction,
    known: TwoFactor,
    code: GivenCode,
    actor: Actor,
  ): Promise<{ readonly codesLeft: number | null } | null> {
    const { repository } = this.#use;
    if (code.kind === 'totp') {
      const step = this.#stepOf(known, code);
      const isAccepted = step !== null && (await repository.useStep(tx, known.userId, step));
      return isAccepted ? { codesLeft: null } : null;
    }
    const codesLeft = await repository.useCode(tx, known.userId, code.code);
    if (codesLeft === null) return null;
    await note(tx, actor, 'recovery_code_used');
    const notice = { kind: 'recovery_code_used', left: codesLeft } as const;
    await this.#use.mails.notify(tx, known.userId, notice, actor);
    return { codesLeft };
  }

  async #completeSignIn(
    tx: Transaction,
    caller: UserCaller,
    client: Client,
  ): Promise<{ readonly signedIn: SignedIn | null; readonly deviceSecret: string | null }> {
    if (caller.restriction === 'two_factor_required') {
      const signedIn = await this.#use.signIn.resume(tx, caller, ['otp'], client);
      return { signedIn, deviceSecret: signedIn.deviceSecret };
    }
    if (caller.sessionId) await this.#use.repository.stepUp(tx, caller.sessionId);
    // Trusts the device of the presented cookie: the session may be used on another device.
    return { signedIn: null, deviceSecret: client.deviceSecret };
  }
}
