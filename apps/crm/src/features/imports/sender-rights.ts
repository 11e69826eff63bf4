import { setTimeout as pause } from 'node:timers/promises';
import type { JobRun } from '@tessera/background-work/jobs';
import type { CrmPermission } from '@tessera/contracts';
import type { Logger } from '@tessera/http-kit';
import {
  actorFor,
  type HeldRights,
  heldRights,
  type RightsSource,
} from '../../absent-callers/current-rights.ts';
import type { TenantDb } from '../../database.ts';
import { hasEnded } from './import-status.ts';
import type { ImportRow } from './imports.kind.ts';
import { findImport } from './imports.repository.ts';
import { importTargets } from './targets.ts';

/**
 * How long a response of identity holds, in milliseconds. It may have been cached for 15 seconds: no more than a minute
 * passes in total.
 */
const VERIFIED_FOR_MS = 45_000;
/** How long an import waits before it repeats a request that identity did not answer: longer each time, in milliseconds. */
const RETRY_MS = { first: 2000, longest: 30_000 } as const;

/** The reason of an import that is cancelled because its sender lost rights. */
export const LOST_RIGHTS = 'The permissions of the sender changed. Send the remaining rows again.';

/** The permissions that an import needs. */
export const importPermissions = ({
  resource,
  duplicates,
}: Pick<ImportRow, 'resource' | 'duplicates'>): readonly CrmPermission[] => {
  const { create, update } = importTargets[resource].permissions;
  return duplicates === 'update' ? [create, update] : [create];
};

type CheckedImport = Pick<ImportRow, 'id' | 'principal' | 'resource' | 'duplicates'>;

/** Whether the sender of an import still has the permissions that it needs. */
export const senderRights = (
  access: RightsSource,
  tenantId: string,
  found: CheckedImport,
): Promise<HeldRights> =>
  heldRights(access, actorFor(tenantId, found.principal), importPermissions(found));

/** Whether rows may be saved; `ended` if the import was cancelled meanwhile. */
type SenderState = 'kept' | 'lost' | 'ended';

/** Verifies the rights of the sender while an import runs, at its start and every minute. */
export class SenderCheck {
  readonly #access: RightsSource;
  readonly #db: TenantDb;
  readonly #import: CheckedImport;
  readonly #logger: Logger;
  #verifiedAt = Number.NEGATIVE_INFINITY;
  #verifying: Promise<SenderState> | undefined;

  constructor(access: RightsSource, db: TenantDb, found: CheckedImport, logger: Logger) {
    this.#access = access;
    this.#db = db;
    this.#import = found;
    this.#logger = logger;
  }

  /**
   * Whether rows may be saved now. Waits while identity does not answer. Throws when the job has to end. Without a client at
   * identity, the result is always `kept`: events cancel imports.
   */
  verify(job: JobRun): Promise<SenderState> {
    this.#verifying ??= this.#verify(job).finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  async #verify({ signal, stopping }: JobRun): Promise<SenderState> {
    if (!this.#access.canAskRights) return 'kept';
    let waits = 0;
    while (performance.now() - this.#verifiedAt >= VERIFIED_FOR_MS) {
      const asked = performance.now();
      const rights = await senderRights(this.#access, this.#db.tenantId, this.#import);
      if (rights.state === 'lost') return 'lost';
      if (rights.state === 'kept') {
        this.#verifiedAt = asked;
        continue;
      }
      const { id } = this.#import;
      if (waits === 0) {
        const { cause } = rights.error;
        this.#logger.warn(
          { import_id: id, err: cause },
          'an import waits until identity says what its sender may do',
        );
      }
      const delay = Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** waits);
      waits += 1;
      const ending = AbortSignal.any([signal, stopping]);
      await pause(delay, undefined, { signal: ending }).catch(() => undefined);
      if (ending.aborted) throw new Error('The import continues later.');
      const current = await findImport(this.#db, id);
      if (!current || hasEnded(current)) return 'ended';
    }
    return 'kept';
  }
}
