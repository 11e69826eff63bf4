import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import { lockUser } from '../../users/users.ts';

export class ReauthenticationRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whether the user of a session authenticated in it within the last `seconds`. */
  async isRecent(sessionId: string, seconds: number): Promise<boolean> {
    const [session] = await this.#database.$queryRaw<{ isRecent: boolean }[]>`
      SELECT authenticated_at > now() - make_interval(secs => ${seconds}::float8) AS "isRecent"
      FROM identity.sessions WHERE id = ${sessionId}::uuid AND ended_at IS NULL`;
    return session?.isRecent ?? false;
  }

  /** Records that the user has just authenticated in a session. */
  async record(sessionId: string, actor: Actor): Promise<void> {
    const { userId } = actor;
    await this.#database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      await tx.session.updateMany({
        where: { id: sessionId, userId, endedAt: null },
        data: { authenticatedAt: new Date() },
      });
      await note(tx, actor, 'reauthenticated');
    });
  }

  async noteFailure(actor: Actor): Promise<void> {
    await note(this.#database, actor, 'reauthentication_failed');
  }
}
