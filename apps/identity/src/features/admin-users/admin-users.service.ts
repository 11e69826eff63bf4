import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import { noteOf } from '../../activity/activity.ts';
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

interface Turn {
  readonly users: UsersInTransaction;
  readonly user: AdminUser;
  readonly tx: Transaction;
}

const noUser = (): HttpError => notFound('The user');

const LAST_ADMINISTRATOR =
  'this is the last active administrator of the system: make somebody else one first';

/** The users of the platform, as its administrators see and change them (decision I13). */
export class AdminUsersService {
  readonly #users: AdminUsersRepository;

  constructor(users: AdminUsersRepository) {
    this.#users = users;
  }

  list(query: UserQuery): Promise<{ users: AdminUser[]; page: number; total: number }> {
    return this.#users.list(query);
  }

  /** 404 where there is no such user. */
  async show(id: string): Promise<AdminUser> {
    const user = await this.#users.find(id);
    if (!user) throw noUser();
    return user;
  }

  /**
   * Changes what is given. Who is deactivated is signed out everywhere, and nobody acts as them or by them any
   * longer; nobody deactivates themselves or the last administrator (422).
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
      const isLeaving = change.isActive === false && user.isActive;
      if (isLeaving) await this.#demandLeavable(caller, user, users);
      const changed = await users.change(id, change);
      await noteOf(tx, caller, origin, isLeaving ? 'user_deactivated' : 'user_updated', {
        subjectId: id,
      });
      const data = { user_id: id };
      if (isLeaving) {
        const gone = await revokeUserTokens(tx, { userId: id }, 'user_deactivated');
        await enqueue(tx, { type: 'identity.user.deactivated', data }, gone);
      } else await enqueue(tx, { type: 'identity.user.updated', data });
      return changed;
    });
  }

  /**
   * Makes somebody a system administrator, or no longer one: the only way there is. They sign in again, with
   * what they are now; what an administrator did as others ends. 422 for a service account, and for the last
   * administrator.
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
        throw invalidField('is_system_admin', 'a service account is no administrator');
      }
      if (!isSystemAdmin && user.isActive) {
        await this.#demandOtherAdministrator(user, users, 'is_system_admin');
      }
      const changed = await users.setSystemAdmin(id, isSystemAdmin);
      const action = isSystemAdmin ? 'administrator_made' : 'administrator_unmade';
      await noteOf(tx, caller, origin, action, { subjectId: id });
      const gone = await revokeUserTokens(tx, { userId: id }, 'administrator_changed');
      await enqueue(tx, { type: 'identity.user.updated', data: { user_id: id } }, gone);
      return changed;
    });
  }

  #changing<T>(caller: Caller, id: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#users.changing(async (users, tx) => {
      // The token was checked before it was their turn.
      if (caller.type !== 'client' && !(await users.isAdministrator(caller.id))) {
        throw new HttpError(403, 'permission_denied', 'You are no administrator any more.');
      }
      const user = await users.find(id);
      if (!user) throw noUser();
      return work({ users, user, tx });
    });
  }

  async #demandLeavable(caller: Caller, user: AdminUser, users: UsersInTransaction): Promise<void> {
    if (caller.id === user.id) throw invalidField('is_active', 'nobody deactivates themselves');
    if (user.isSystemAdmin) await this.#demandOtherAdministrator(user, users, 'is_active');
  }

  async #demandOtherAdministrator(
    { id }: AdminUser,
    users: UsersInTransaction,
    field: string,
  ): Promise<void> {
    if (!(await users.hasOtherAdministrator(id))) throw invalidField(field, LAST_ADMINISTRATOR);
  }
}
