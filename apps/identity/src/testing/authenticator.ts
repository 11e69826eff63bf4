import { createHmac } from 'node:crypto';
import type { Database } from '../database.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_MS = 30_000;

const fromBase32 = (text: string): Buffer => {
  const bits = [...text].map((c) => ALPHABET.indexOf(c).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** The password of a moment (RFC 6238), worked out from the standard and not by the service's library. */
export const totpAt = (secret: string, milliseconds: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(milliseconds / STEP_MS)));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const truncated = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fff_ffff;
  return `${truncated % 1_000_000}`.padStart(6, '0');
};

/** The app on the phone of a user whose second factor is on. */
export class Authenticator {
  readonly #database: Database;
  readonly #userId: string;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];

  constructor(
    database: Database,
    userId: string,
    { secret, recoveryCodes }: { secret: string; recoveryCodes: readonly string[] },
  ) {
    this.#database = database;
    this.#userId = userId;
    this.secret = secret;
    this.recoveryCodes = recoveryCodes;
  }

  /** A code that will be taken, however shortly after the last one. */
  async code(): Promise<string> {
    await this.#database.twoFactor.update({
      where: { userId: this.#userId },
      data: { lastStep: null },
    });
    return totpAt(this.secret, Date.now());
  }

  /** The code of a moment. */
  codeAt(milliseconds: number): string {
    return totpAt(this.secret, milliseconds);
  }

  /** Six digits that are not the code of now, nor of the steps beside it. */
  wrongCode(milliseconds = Date.now()): string {
    const near = [-2, -1, 0, 1, 2].map((n) => this.codeAt(milliseconds + n * STEP_MS));
    return near.includes('000000') ? '999999' : '000000';
  }
}
