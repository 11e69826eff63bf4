import { type IdentityEvent, revocationTarget } from '@tessera/contracts';
import type { Logger } from '@tessera/http-kit';
import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { type ImportPrincipal, principalOf } from './import-caller.ts';
import { endImport } from './imports.repository.ts';

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

const REASON = 'The permissions of the sender changed. Send the remaining rows again.';

/** Cancels the imports of all tenants whose senders an event affects. */
export const cancelAffected = async (
  { pool, forTenant }: Pick<Database, 'pool' | 'forTenant'>,
  event: IdentityEvent,
): Promise<void> => {
  const { rows } = await pool.query<UnfinishedImport>(
    'SELECT tenant_id, id, principal FROM tenant_crm.unfinished_imports()',
  );
  const affected = rows.filter((found) => endsAccess(event, found));
  const results = await Promise.allSettled(
    affected.map(({ tenant_id, id }) => endImport(forTenant(tenant_id), id, 'cancelled', REASON)),
  );
  // One that cannot be cancelled must not keep the others running.
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} imports still run`);
};

/** The listener for events of identity that cancels imports. */
export const senderAccessListener =
  (database: Pick<Database, 'pool' | 'forTenant'>, senders: UploadSenders, logger: Logger) =>
  (event: IdentityEvent): void => {
    senders.receive(event);
    if (event.type === 'identity.user.updated') return;
    cancelAffected(database, event).catch((err) =>
      logger.error({ err, event: event.type }, 'imports were not cancelled after an event'),
    );
  };
