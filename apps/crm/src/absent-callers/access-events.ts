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

/** Whether an event can end the access of any principal. */
const canEndAccess = (event: IdentityEvent): boolean => {
  if (event.type === 'identity.user.updated') return false;
  if (event.type !== 'identity.token.revoked') return true;
  const by = revocationTarget(event.data)?.by;
  return by === 'token_id' || by === 'user_id' || by === 'client_id';
};

/**
 * Reviews all work that an event affects. One that cannot be reviewed does not prevent the review of the others; throws
 * an `AggregateError` after the last one.
 */
export const reviewAffected = async <W extends WaitingWork>(
  event: IdentityEvent,
  waiting: () => Promise<readonly W[]>,
  review: (work: W) => Promise<void>,
): Promise<void> => {
  if (!canEndAccess(event)) return;
  const affected = (await waiting()).filter((work) => endsAccess(event, work));
  const results = await Promise.allSettled(affected.map(review));
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} were not reviewed`);
};
