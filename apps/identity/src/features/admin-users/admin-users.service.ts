import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import { noteOf } from '../../activity/activity.ts';
import { changesBetween } from '../../activity/changes.ts';
import type { Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { Caller } from '../../tokens/caller.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';
import type { AdminUser } from './admin-user.ts';
import type {
  AdminUsersRepository,
  UserData,
  UserQuery,
  UsersInTransaction,
} from './admin-users.repository.ts';

interface UserChange {
  readonly users: UsersInTransaction;
  readonly user: AdminUser;
  readonly tx: Transaction;
}

/** What the activity log records of a user. */
const recorded = (user: AdminUser) => ({
  first_name: user.firstName,
  last_name: user.lastName,
  is_active: user.isActive,
  force_password_change: user.forcePasswordChange,
  is_system_admin: user.isSystemAdmin,
});

const noUser = (): HttpError => notFound('The user');

const LAST_ADMINISTRATOR =
  'this is the last active administrator of the system; make another user an administrator first';

/** Lets system administrators list and change users (decision I13). */
export class AdminUsersService {
  readonly #users: AdminUsersRepository;

  constructor(users: AdminUsersRepository) {
    this.#users = users;
  }

  list(query: UserQuery): Promise<{ users: AdminUser[]; page: number; total: number }> {
    return this.#users.list(query);
  }

  /** 404 if the user does not exist. */
  async show(id: string): Promise<AdminUser> {
    const user = await this.#users.find(id);
    if (!user) throw noUser();
    return user;
  }

  /**
   * Applies the given fields. Deactivation signs the user out everywhere and ends impersonations by and of
   * them. 422 when deactivating oneself or the last administrator.
   */
  change(caller: Caller, id: string, change: UserData, origin: Origin): Promise<AdminUser> {
    return this.#changing(caller, id, async ({ users, user, tx }) => {
      const isSame = Object.entries(change).every(
        ([name, value]) => value === undefined || user[name as keyof UserData] === value,
      );
      if (isSame) return user;
      if (change.forcePasswordChange && user.isServiceAccount) {
        throw invalidField('force_password_change', 'a service account has no password');
      }
      const isDeactivation = change.isActive === false && user.isActive;
      if (isDeactivation) await this.#requireDeactivatable(caller, user, users);
      const changed = await users.change(id, change);
      await noteOf(tx, caller, origin, isDeactivation ? 'user_deactivated' : 'user_updated', {
        subjectId: id,
        changes: changesBetween(recorded(user), recorded(changed)),
      });
      const data = { user_id: id };
      if (isDeactivation) {
        const revocation = await revokeUserTokens(tx, { userId: id }, 'user_deactivated');
        await enqueue(tx, { type: 'identity.user.deactivated', data }, revocation);
      } else await enqueue(tx, { type: 'identity.user.updated', data });
      return changed;
    });
  }

  /**
   * Grants or revokes system administrator rights. The user must sign in again, and impersonations by them end.
   * 422 for a service account or the last administrator.
   */
  setSystemAdmin(
    caller: Caller,
    id: string,
    isSystemAdmin: boolean,
    origin: Origin,
  ): Promise<AdminUser> {
    return this.#changing(caller, id, async ({ users, user, tx }) => {
      if (user.isSystemAdmin === isSystemAdmin) return user;
      if (user.isServiceAccount) {
        throw invalidField('is_system_admin', 'a service account cannot be an administrator');
      }
      if (!isSystemAdmin && user.isActive) {
        await this.#requireOtherAdministrator(user, users, 'is_system_admin');
      }
      const changed = await users.setSystemAdmin(id, isSystemAdmin);
      const action = isSystemAdmin ? 'administrator_made' : 'administrator_unmade';
      const changes = changesBetween(recorded(user), recorded(changed));
      await noteOf(tx, caller, origin, action, { subjectId: id, changes });
      const revocation = await revokeUserTokens(tx, { userId: id }, 'administrator_changed');
      await enqueue(tx, { type: 'identity.user.updated', data: { user_id: id } }, revocation);
      return changed;
    });
  }

  #changing<T>(caller: Caller, id: string, work: (change: UserChange) => Promise<T>): Promise<T> {
    return this.#users.changing(async (users, tx) => {
      // The caller may have lost their rights while waiting for the lock.
      if (caller.type !== 'client' && !(await users.isAdministrator(caller.id))) {
        throw new HttpError(403, 'permission_denied', 'You are no longer an administrator.');
      }
      const user = await users.find(id);
      if (!user) throw noUser();
      return work({ users, user, tx });
    });
  }

  async #requireDeactivatable(
    caller: Caller,
    user: AdminUser,
    users: UsersInTransaction,
  ): Promise<void> {
    if (caller.id === user.id) throw invalidField('is_active', 'you cannot deactivate yourself');
    if (user.isSystemAdmin) await this.#requireOtherAdministrator(user, users, 'is_active');
  }

  async #requireOtherAdministrator(
    { id }: AdminUser,
    users: UsersInTransaction,
    field: string,
  ): Promise<void> {
    if (!(await users.hasOtherAdministrator(id))) throw invalidField(field, LAST_ADMINISTRATOR);
  }
}
