import type { IdentityEvent } from '@tessera/contracts';
import type { Logger } from '@tessera/http-kit';
import {
  type AffectedWork,
  endsAccess,
  reviewAffected,
  type WaitingWork,
} from '../../absent-callers/access-events.ts';
import type { RightsSource } from '../../absent-callers/current-rights.ts';
import { principalOf } from '../../absent-callers/stored-principal.ts';
import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { affectedImports } from './affected-imports.repository.ts';
import { endImport, findImport } from './imports.repository.ts';
import { LOST_RIGHTS, senderRights } from './sender-rights.ts';

/** The sender of a file that is being uploaded. */
export interface UploadSender {
  /** Whether the sender may have lost access since the upload began. */
  readonly hasLostAccess: boolean;
  /** Ends the upload. */
  end(): void;
}

/** The senders of the files that this process receives: their imports do not exist until the file has arrived. */
export class UploadSenders {
  readonly #senders = new Set<WaitingWork & { hasLostAccess: boolean }>();

  /** Adds the sender of an upload that begins. */
  add(caller: Caller): UploadSender {
    const sender = {
      tenant_id: caller.tenantId,
      principal: principalOf(caller),
      hasLostAccess: false,
      end: () => {
        this.#senders.delete(sender);
      },
    };
    this.#senders.add(sender);
    return sender;
  }

  /** Notes which senders an event affects. */
  receive(event: IdentityEvent): void {
    for (const sender of this.#senders) {
      if (endsAccess(event, sender)) sender.hasLostAccess = true;
    }
  }
}

/** What the listener for events of identity uses. */
interface Dependencies {
  readonly database: Pick<Database, 'pool' | 'forTenant'>;
  readonly access: RightsSource;
  readonly senders: UploadSenders;
  readonly logger: Logger;
}

/**
 * Cancels the imports of all tenants whose senders lost a permission that they need by an event. If the rights cannot
 * be verified now, an import waits until they are. Without a client at identity, all imports that the event may affect
 * are cancelled.
 */
export const cancelAffected = async (
  { database, access }: Pick<Dependencies, 'database' | 'access'>,
  event: IdentityEvent,
): Promise<void> => {
  const unfinished = (affected: AffectedWork) => affectedImports(database, affected);
  await reviewAffected(event, unfinished, async ({ tenant_id, id }) => {
    const db = database.forTenant(tenant_id);
    if (access.canAskRights) {
      const found = await findImport(db, id);
      if (!found || (await senderRights(access, tenant_id, found)).state !== 'lost') return;
    }
    await endImport(db, id, 'cancelled', LOST_RIGHTS);
  });
};

/** The listener for events of identity that cancels imports. */
export const senderAccessListener =
  ({ senders, logger, ...dependencies }: Dependencies) =>
  (event: IdentityEvent): void => {
    // With a client at identity, an import verifies the rights of its sender when it starts.
    if (!dependencies.access.canAskRights) senders.receive(event);
    cancelAffected(dependencies, event).catch((err) =>
      logger.error({ err, event: event.type }, 'imports were not cancelled after an event'),
    );
  };
