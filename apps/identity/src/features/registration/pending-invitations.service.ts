import { HttpError, notFound } from '@tessera/http-kit';
import { noteOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Caller } from '../../tokens/caller.ts';
import type { Role } from '../members/member.ts';
import type { MembersService } from '../members/members.service.ts';
import { combinedRights, type Holder, missingRight } from '../members/rights.ts';
import type {
  InvitationQuery,
  PendingInvitation,
  PendingInvitationsRepository,
} from './pending-invitations.repository.ts';

const noInvitation = (): HttpError => notFound('The invitation');

/** 403 if the role of an invitation grants permissions that the caller does not hold. */
const requireWithdrawable = (holder: Holder, role: Role): void => {
  const more = missingRight(holder, combinedRights(role));
  if (more === undefined) return;
  const message = `The role of the invitation grants ${more}, which you do not hold yourself.`;
  throw new HttpError(403, 'role_holds_more', message);
};

/** What a tenant sees of its invitations until they are accepted (decisions I10 and I20). */
export class PendingInvitationsService {
  readonly #repository: PendingInvitationsRepository;
  readonly #members: MembersService;

  constructor(repository: PendingInvitationsRepository, members: MembersService) {
    this.#repository = repository;
    this.#members = members;
  }

  list(
    tenantId: string,
    query: InvitationQuery,
  ): Promise<{ invitations: PendingInvitation[]; page: number; total: number }> {
    return this.#repository.list(tenantId, query);
  }

  /**
   * Withdraws an invitation, whose link stops working at once. If it is accepted at the same time, one of the two
   * succeeds. 404 if the tenant has no such pending invitation; 403 if the caller could not have sent it, because its
   * role grants permissions that they do not hold.
   */
  withdraw(
    caller: Caller,
    { tenantId, id }: { readonly tenantId: string; readonly id: string },
    origin: Origin,
  ): Promise<void> {
    return this.#members.reading(caller, tenantId, async ({ holder, tx }) => {
      const role = await this.#repository.roleOf(tx, tenantId, id);
      if (!role) throw noInvitation();
      requireWithdrawable(holder, role);
      // First, because it locks the caller: the deletion of an account also locks it before its invitations.
      await noteOf(tx, caller, origin, 'invitation_withdrawn', { tenantId, subjectId: id });
      if (!(await this.#repository.remove(tx, tenantId, id))) throw noInvitation();
    });
  }
}
