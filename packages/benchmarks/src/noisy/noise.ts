import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { createPool } from '@tessera/database-kit';
import type { SmtpServer, Stack } from '@tessera/local-stack';
import type { Answer, Sender, Sent } from './sender.ts';

/** What everybody has: accounts, and an address. */
export interface NoisyAccess {
  readonly identity: string;
  readonly crm: string;
  readonly system: Stack['system'];
  /** Tokens of accounts of the tenant. */
  readonly tokens: Readonly<Record<'owner' | 'viewer' | 'person', string>>;
  readonly sender: Sender;
  /** Counts what became of the noise. */
  note(answer: Answer): Answer;
}

/** A noisy tenant, and what its noise is prepared with. */
export interface NoisyTenant extends NoisyAccess {
  /** CRM's database, to prepare in a second what takes an attacker minutes. */
  readonly pool: ReturnType<typeof createPool>;
  readonly smtp: SmtpServer;
}

export interface Noise<Tenant extends NoisyAccess = NoisyTenant> {
  /** The name for `--only`, which begins with `noisy-`. */
  readonly name: string;
  /** What the noisy tenant does, as the table says it. */
  readonly title: string;
  /** Prepares it before anything is measured. */
  prepare?(tenant: Tenant): Promise<void>;
  /** Makes noise until it is aborted. */
  make(tenant: Tenant, signal: AbortSignal): Promise<void>;
}

/** Sends requests one after another on each of several connections, at most `perMinute` together. */
export const repeatedly = async (
  tenant: NoisyAccess,
  signal: AbortSignal,
  { connections, perMinute = 600 }: { readonly connections: number; readonly perMinute?: number },
  next: (count: number) => Sent,
): Promise<void> => {
  let count = 0;
  const started = performance.now();
  setMaxListeners(0, signal);
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      const mine = count;
      count += 1;
      // A window of limits lasts a minute; the whole of it may be used at once.
      const minute = Math.floor(mine / perMinute);
      const waits = started + minute * 60_000 - performance.now();
      if (waits > 0) await aborted(signal, waits);
      if (signal.aborted) return;
      tenant.note(await tenant.sender.send(next(mine), signal));
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
};

/** Waits until the signal is aborted, or for this many milliseconds. */
export const aborted = (signal: AbortSignal, ms = 2 ** 31 - 1): Promise<void> =>
  pause(ms, undefined, { signal }).catch(() => undefined);
