import { actionsOfKind } from '../../activity/actions.ts';
import { type Actor, note } from '../../activity/activity.ts';
import { changesBetween } from '../../activity/changes.ts';
import type { Database } from '../../database.ts';
import type { ActivityEntry, User } from '../../generated/prisma/client.ts';
import { type Paged, readPage } from '../../lists/paging.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { lockUser } from '../../users/users.ts';
import { newestOfKind, type OwnActivityQuery } from './own-activity.ts';

type Changeable = Pick<User, 'firstName' | 'lastName' | 'phone' | 'timezone' | 'locale'>;

/** The fields of their own that users can change; absent fields are left unchanged. */
export type ProfileChange = { readonly [K in keyof Changeable]?: Changeable[K] | undefined };

/** What the activity log records of a profile. */
const recorded = (user: Changeable) => ({
  first_name: user.firstName,
  last_name: user.lastName,
  phone: user.phone,
  timezone: user.timezone,
  locale: user.locale,
});

/** How an account is secured. */
export interface Security {
  readonly twoFactorEnabled: boolean;
  /** 0 if two-factor authentication is off. */
  readonly recoveryCodesLeft: number;
  readonly pinEnabled: boolean;
  readonly forcePasswordChange: boolean;
  readonly passwordChangedAt: Date | null;
}

export class ProfileRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  find(userId: string): Promise<User | null> {
    return this.#database.user.findUnique({ where: { id: userId } });
  }

  /** Commits with its activity entry and `identity.user.updated`, if something changes; null if the user is gone. */
  change(actor: Actor, change: ProfileChange): Promise<User | null> {
    // Prisma ignores undefined fields, although its types do not say so.
    const data = change as Partial<Changeable>;
    const { userId: id } = actor;
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, id);
      const before = await tx.user.findUnique({ where: { id } });
      if (!before) return null;
      const user = await tx.user.update({ where: { id }, data });
      const changes = changesBetween(recorded(before), recorded(user));
      if (!changes) return user;
      await note(tx, actor, 'profile_updated', { changes });
      await enqueue(tx, { type: 'identity.user.updated', data: { user_id: id } });
      return user;
    });
  }

  async security(userId: string): Promise<Security | null> {
    const user = await this.#database.user.findUnique({
      where: { id: userId },
      select: {
        forcePasswordChange: true,
        passwordChangedAt: true,
        twoFactor: { select: { confirmedAt: true } },
        pin: { select: { userId: true } },
        _count: { select: { recoveryCodes: { where: { usedAt: null } } } },
      },
    });
    if (!user) return null;
    const { twoFactor, pin, _count, ...password } = user;
    const twoFactorEnabled = twoFactor !== null && twoFactor.confirmedAt !== null;
    const recoveryCodesLeft = twoFactorEnabled ? _count.recoveryCodes : 0;
    return { ...password, twoFactorEnabled, recoveryCodesLeft, pinEnabled: pin !== null };
  }

  /** One page of the user's own activity, newest first. */
  activity(userId: string, query: OwnActivityQuery): Promise<Paged<ActivityEntry>> {
    const { kind, tenantId, from, to } = query;
    const createdAt = { ...(from && { gte: from }), ...(to && { lt: to }) };
    const where = {
      userId,
      createdAt,
      ...(tenantId !== undefined && { tenantId }),
      ...(kind && { action: { in: actionsOfKind(kind) } }),
    };
    const orderBy = [{ createdAt: 'desc' }, { id: 'desc' }] as const;
    return readPage(this.#database, query, {
      count: (tx) => tx.activityEntry.count({ where }),
      rows: async (tx, part) => {
        if (!kind) return tx.activityEntry.findMany({ where, orderBy: [...orderBy], ...part });
        const range = { userId, kind, tenantId, from, to, ...part };
        const found = await tx.$queryRaw<{ id: string }[]>(newestOfKind(range));
        const id = { in: found.map((entry) => entry.id) };
        return tx.activityEntry.findMany({ where: { id }, orderBy: [...orderBy] });
      },
    });
  }

  /** An entry of the user's own activity; null if there is none with this id. */
  activityEntry(userId: string, id: string): Promise<ActivityEntry | null> {
    return this.#database.activityEntry.findFirst({ where: { id, userId } });
  }
}
