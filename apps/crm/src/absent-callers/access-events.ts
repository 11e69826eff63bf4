import { type IdentityEvent, revocationTarget } from '@tessera/contracts';
import type { StoredPrincipal } from './stored-principal.ts';

/** Work that waits, and who asked for it. */
export interface WaitingWork {
  readonly tenant_id: string;
  readonly principal: StoredPrincipal;
}

const isUser = ({ id, impersonator_id }: StoredPrincipal, userId: string): boolean =>
  id === userId || impersonator_id === userId;

/**
 * Whether an event means that the principal may have lost the right to what it asked for. Tokens of users end when they
 * are renewed and when the user signs out, which says nothing about work that waits; API keys and clients are revoked on
 * purpose.
 */
export const endsAccess = (
  event: IdentityEvent,
  { tenant_id, principal }: WaitingWork,
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

/** Whose work an event affects: that of a tenant, or of some of its users, or of one principal or token anywhere. */
export type AffectedWork =
  | { readonly tenantId: string; readonly userIds: readonly string[] | null }
  | { readonly scheduler: string };

/** Whose access an event can end; undefined for nobody's. */
export const affectedBy = (event: IdentityEvent): AffectedWork | undefined => {
  switch (event.type) {
    case 'identity.policy.updated':
      return { tenantId: event.data.tenant_id, userIds: event.data.user_ids };
    case 'identity.tenant.status_changed':
      if (event.data.status === 'active') return undefined;
      return { tenantId: event.data.tenant_id, userIds: null };
    case 'identity.user.deactivated':
      return { scheduler: event.data.user_id };
    case 'identity.token.revoked': {
      const target = revocationTarget(event.data);
      if (target?.by === 'token_id') return { scheduler: target.id };
      if (target?.by === 'user_id' || target?.by === 'client_id') return { scheduler: target.id };
      return undefined;
    }
    default:
      return undefined;
  }
};

/**
 * Reviews all work that an event affects, the work of a batch at the same time. One that cannot be reviewed does not
 * prevent the review of the others; throws an `AggregateError` after the last one.
 */
export const reviewAffected = async <W extends WaitingWork>(
  event: IdentityEvent,
  waiting: (affected: AffectedWork) => AsyncIterable<readonly W[]>,
  review: (work: W) => Promise<void>,
): Promise<void> => {
  const affected = affectedBy(event);
  if (!affected) return;
  const errors: unknown[] = [];
  for await (const batch of waiting(affected)) {
    const works = batch.filter((work) => endsAccess(event, work));
    const results = await Promise.allSettled(works.map(review));
    for (const result of results) if (result.status === 'rejected') errors.push(result.reason);
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} were not reviewed`);
};
