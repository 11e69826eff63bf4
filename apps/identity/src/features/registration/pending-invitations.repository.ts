import { requireTenant } from '../../access/tenants.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readPage } from '../../lists/paging.ts';
import { containsWords } from '../../lists/search.ts';
import { pendingInvitation } from '../../tokens/one-time.ts';
import { type Role, roleOf } from '../members/member.ts';

/** An invitation that has neither been accepted nor expired. */
export interface PendingInvitation {
  readonly id: string;
  readonly email: string;
  /** As entered by the inviter; null if none was given. */
  readonly name: string | null;
  readonly role: Role;
  /** Null unless a present member sent it who is not an operator of the platform. */
  readonly inviter: { readonly userId: string; readonly name: string } | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Page, filter and order of a list of invitations. */
export interface InvitationQuery {
  readonly page: number;
  readonly perPage: number;
  readonly search: string | undefined;
  readonly sort: { readonly by: 'email' | 'createdAt'; readonly order: 'asc' | 'desc' };
}

/** The invitations of a tenant whose links have not been used and have not expired. */
const pending = (tenantId: string) => ({ tenantId, ...pendingInvitation() });

/** What is read with an invitation; of the inviter, whether they are a member of its tenant. */
const whole = (tenantId: string) =>
  ({
    role: { include: { policies: true } },
    inviter: { include: { memberships: { where: { tenantId }, select: { userId: true } } } },
  }) as const satisfies Prisma.OneTimeTokenInclude;

type Row = Prisma.OneTimeTokenGetPayload<{ include: ReturnType<typeof whole> }>;

const fullName = (firstName: string | null, lastName: string | null): string =>
  `${firstName ?? ''} ${lastName ?? ''}`.trim();

/** As the log of a tenant does, this names neither operators of the platform nor who has left (decision I20). */
const inviterOf = ({ inviter }: Row): PendingInvitation['inviter'] => {
  if (inviter === null || inviter.isSystemAdmin || inviter.memberships.length === 0) return null;
  return { userId: inviter.id, name: fullName(inviter.firstName, inviter.lastName) };
};

/** Empty if the role has been deleted, which deletes the invitation. */
const invitationOf = (row: Row): PendingInvitation[] => {
  const { id, email, firstName, lastName, role, createdAt, expiresAt } = row;
  if (role === null) return [];
  const name = fullName(firstName, lastName) || null;
  const inviter = inviterOf(row);
  return [{ id, email, name, role: roleOf(role), inviter, createdAt, expiresAt }];
};

export class PendingInvitationsRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * One page and its number. A page beyond the last one returns the last one. 404 if the tenant does not exist.
   */
  async list(
    tenantId: string,
    query: InvitationQuery,
  ): Promise<{ invitations: PendingInvitation[]; page: number; total: number }> {
    await requireTenant(this.#database, tenantId);
    const where = { ...pending(tenantId), AND: containsWords(query.search) };
    const { by, order } = query.sort;
    const orderBy = [{ [by]: order }, { id: order }];
    const { rows, ...at } = await readPage(this.#database, query, {
      count: (tx) => tx.oneTimeToken.count({ where }),
      rows: (tx, part) =>
        tx.oneTimeToken.findMany({ where, include: whole(tenantId), orderBy, ...part }),
    });
    return { invitations: rows.flatMap(invitationOf), ...at };
  }

  /** The role that a pending invitation of the tenant grants; null if there is no such invitation. */
  async roleOf(tx: Transaction, tenantId: string, id: string): Promise<Role | null> {
    const row = await tx.oneTimeToken.findFirst({
      where: { ...pending(tenantId), id },
      include: { role: { include: { policies: true } } },
    });
    return row?.role ? roleOf(row.role) : null;
  }

  /** Deletes a pending invitation; false if it was accepted, replaced or withdrawn meanwhile. */
  async remove(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
    const { count } = await tx.oneTimeToken.deleteMany({ where: { ...pending(tenantId), id } });
    return count === 1;
  }
}
