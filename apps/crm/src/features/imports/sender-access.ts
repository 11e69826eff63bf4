import { type IdentityEvent, revocationTarget } from '@tessera/contracts';
import type { Logger } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { type ImportPrincipal, principalOf } from './import-caller.ts';
import { endImport, findImport } from './imports.repository.ts';
import { LOST_RIGHTS, type SenderRightsSource, senderRights } from './sender-rights.ts';

/** An import that has not ended, and its sender. */
interface UnfinishedImport {
  readonly tenant_id: string;
  readonly id: string;
  readonly principal: ImportPrincipal;
}

const isUser = ({ id, impersonator_id }: ImportPrincipal, userId: string): boolean =>
  id === userId || impersonator_id === userId;

/**
 * Whether an event means that the sender of an import may have lost the right to change records. Tokens of users end
 * when they are renewed and when the user signs out, which says nothing about the import; API keys and clients are
 * revoked on purpose.
 */
export const endsAccess = (
  event: IdentityEvent,
  { tenant_id, principal }: Pick<UnfinishedImport, 'tenant_id' | 'principal'>,
): boolean => {
  switch (event.type) {
    case 'identity.policy.updated': {
      const { tenant_id: tenant, user_ids } = event.data;
      // The rights of a client are its scopes.
      if (tenant !== tenant_id || principal.type === 'client') return false;
      return user_ids === null || user_ids.includes(principal.id);
    }
    case 'identity.user.deactivated':
      return isUser(principal, event.data.user_id);
    case 'identity.tenant.status_changed':
      return event.data.tenant_id === tenant_id && event.data.status !== 'active';
    case 'identity.token.revoked': {
      if (principal.type === 'user') return false;
      const target = revocationTarget(event.data);
      if (target?.by === 'token_id') return principal.token_id === target.id;
      return (target?.by === 'user_id' || target?.by === 'client_id') && principal.id === target.id;
    }
    default:
      return false;
  }
};

/** The sender of a file that is being uploaded. */
export interface UploadSender {
  /** Whether the sender may have lost access since the upload began. */
  readonly hasLostAccess: boolean;
  /** Ends the upload. */
  end(): void;
}

/** The senders of the files that this process receives: their imports do not exist until the file has arrived. */
export class UploadSenders {
  readonly #senders = new Set<{
    readonly tenant_id: string;
    readonly principal: ImportPrincipal;
    hasLostAccess: boolean;
  }>();

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
  readonly access: SenderRightsSource;
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
  const { rows } = await database.pool.query<UnfinishedImport>(
    'SELECT tenant_id, id, principal FROM tenant_crm.unfinished_imports()',
  );
  const cancel = async ({ tenant_id, id }: UnfinishedImport): Promise<void> => {
    const db = database.forTenant(tenant_id);
    if (access.canAskRights) {
      const found = await findImport(db, id);
      if (!found || (await senderRights(access, tenant_id, found)) !== 'lost') return;
    }
    await endImport(db, id, 'cancelled', LOST_RIGHTS);
  };
  const results = await Promise.allSettled(
    rows.filter((found) => endsAccess(event, found)).map(cancel),
  );
  // An import that cannot be cancelled must not prevent the cancellation of the others.
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} imports still run`);
};

/** Whether an event can end the access of any sender. */
const isRelevant = (event: IdentityEvent): boolean => {
  if (event.type === 'identity.user.updated') return false;
  if (event.type !== 'identity.token.revoked') return true;
  const by = revocationTarget(event.data)?.by;
  return by === 'token_id' || by === 'user_id' || by === 'client_id';
};

/** The listener for events of identity that cancels imports. */
export const senderAccessListener =
  ({ senders, logger, ...dependencies }: Dependencies) =>
  (event: IdentityEvent): void => {
    // With a client at identity, an import verifies the rights of its sender when it starts.
    if (!dependencies.access.canAskRights) senders.receive(event);
    if (!isRelevant(event)) return;
    cancelAffected(dependencies, event).catch((err) =>
      logger.error({ err, event: event.type }, 'imports were not cancelled after an event'),
    );
  };
