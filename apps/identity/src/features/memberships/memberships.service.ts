import { notFound } from '@tessera/http-kit';
import { activeTenant, tenantForbidden } from '../../access/access.ts';
import { actorOf } from '../../activity/activity.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { MembersService } from '../members/members.service.ts';
import type { Membership, MembershipsRepository } from './memberships.repository.ts';

export type { Membership };

/** Most tenants that a list holds. */
export const MOST_TENANTS = 500;

interface Dependencies {
  readonly repository: MembershipsRepository;
  readonly members: Pick<MembersService, 'leave' | 'isLastOwner'>;
  readonly mails: SecurityMails;
}

/** The tenants that a person belongs to, as the person sees them. */
export class MembershipsService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** By name. */
  list({ id }: UserCaller): Promise<Membership[]> {
    return this.#use.repository.list(id, MOST_TENANTS);
  }

  /** 404 where the caller is no member. */
  async show({ id }: UserCaller, tenantId: string): Promise<Membership> {
    const found = await this.#use.repository.find(id, tenantId);
    if (!found) throw notFound('The tenant');
    return found;
  }

  /** Whether the caller cannot leave, because the tenant would have no owner. 404 where they are no member. */
  async isLastOwner(caller: UserCaller, tenantId: string): Promise<boolean> {
    await this.show(caller, tenantId);
    return this.#use.members.isLastOwner({ tenantId, userId: caller.id });
  }

  /**
   * Has the caller's next sign-in, and their account pages, start in another tenant. Tokens stay where they
   * are: those are switched by `SessionsService.switchTenant`. 403 where the caller is no member, or the
   * tenant is suspended.
   */
  async startIn(caller: UserCaller, tenantId: string, origin: Origin): Promise<void> {
    const tenant = caller.tenants.find(({ id }) => id === tenantId) ?? null;
    activeTenant({ ...caller, tenant });
    const isDone = await this.#use.repository.startIn(actorOf(caller, origin), tenantId);
    if (!isDone) throw tenantForbidden();
  }

  /**
   * Ends the caller's membership, with every token of theirs in the tenant, and tells them by mail. 404 where
   * they are no member, 409 `last_owner` where nobody else owns the tenant.
   */
  async leave(caller: UserCaller, tenantId: string, origin: Origin): Promise<void> {
    const { members, mails } = this.#use;
    const { name } = (await this.show(caller, tenantId)).tenant;
    await members.leave(caller, tenantId, origin, (tx) =>
      mails.tell(tx, caller.id, { kind: 'tenant_left', tenant: name }, origin),
    );
  }
}
