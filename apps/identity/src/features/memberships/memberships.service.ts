import { notFound } from '@tessera/http-kit';
import { activeTenant, tenantForbidden } from '../../access/access.ts';
import { actorOf } from '../../activity/activity.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { MembersService } from '../members/members.service.ts';
import type { Membership, MembershipsRepository } from './memberships.repository.ts';

export type { Membership };

/** Maximum length of the list. */
export const MAX_TENANTS = 500;

interface Dependencies {
  readonly repository: MembershipsRepository;
  readonly members: Pick<MembersService, 'leave' | 'isLastOwner'>;
  readonly mails: SecurityMails;
}

/** The tenants that a user belongs to. */
export class MembershipsService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Ordered by tenant name. */
  list({ id }: UserCaller): Promise<Membership[]> {
    return this.#use.repository.list(id, MAX_TENANTS);
  }

  /** 404 if the caller is not a member. */
  async show({ id }: UserCaller, tenantId: string): Promise<Membership> {
    const found = await this.#use.repository.find(id, tenantId);
    if (!found) throw notFound('The tenant');
    return found;
  }

  /**
   * Whether the caller is the last owner and therefore cannot leave. 404 if they are not a member.
   */
  async isLastOwner(caller: UserCaller, tenantId: string): Promise<boolean> {
    await this.show(caller, tenantId);
    return this.#use.members.isLastOwner({ tenantId, userId: caller.id });
  }

  /**
   * Makes the caller's next sign-in and account pages start in another tenant. Existing tokens stay in their
   * tenant; `SessionsService.switchTenant` switches those. 403 if the caller is not a member or the tenant is
   * suspended.
   */
  async startIn(caller: UserCaller, tenantId: string, origin: Origin): Promise<void> {
    const tenant = caller.tenants.find(({ id }) => id === tenantId) ?? null;
    activeTenant({ ...caller, tenant });
    const isDone = await this.#use.repository.startIn(actorOf(caller, origin), tenantId);
    if (!isDone) throw tenantForbidden();
  }

  /**
   * Ends the caller's membership, revokes their tokens in the tenant, and notifies them by mail. 404 if they
   * are not a member, 409 `last_owner` for the last owner.
   */
  async leave(caller: UserCaller, tenantId: string, origin: Origin): Promise<void> {
    const { members, mails } = this.#use;
    const { name } = (await this.show(caller, tenantId)).tenant;
    await members.leave(caller, tenantId, origin, (tx) =>
      mails.notify(tx, caller.id, { kind: 'tenant_left', tenant: name }, origin),
    );
  }
}
