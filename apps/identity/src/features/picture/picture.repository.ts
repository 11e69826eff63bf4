import type { ConvertedPicture } from '@tessera/content-worker';
import { unauthenticated } from '@tessera/http-kit';
import type { Action } from '../../activity/actions.ts';
import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { User } from '../../generated/prisma/client.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { newSecret } from '../../security/secrets.ts';
import { lockUser } from '../../users/users.ts';

export class PictureRepository {
  readonly #database: Database;
  /** The public URL of a picture. */
  readonly #addressOf: (key: string) => string;

  constructor(database: Database, addressOf: (key: string) => string) {
    this.#database = database;
    this.#addressOf = addressOf;
  }

  /** The file of a key; null if there is none. */
  async file(key: string, size: keyof ConvertedPicture): Promise<Uint8Array | null> {
    const select = { small: size === 'small', large: size === 'large' };
    const found = await this.#database.profilePicture.findUnique({ where: { key }, select });
    return found?.[size] ?? null;
  }

  /** Sets or replaces the picture. Commits with its activity entry and event. */
  set(actor: Actor, { small, large }: ConvertedPicture): Promise<User> {
    const { userId } = actor;
    const picture = { key: newSecret(), small, large, createdAt: new Date() };
    return this.#changing(actor, 'picture_changed', async (tx) => {
      await tx.profilePicture.upsert({
        where: { userId },
        create: { userId, ...picture },
        update: picture,
      });
      return this.#addressOf(picture.key);
    });
  }

  /** Removes the picture. Records nothing if there is none. */
  remove(actor: Actor): Promise<User> {
    const { userId } = actor;
    return this.#changing(actor, 'picture_removed', async (tx) => {
      await tx.profilePicture.deleteMany({ where: { userId } });
      return null;
    });
  }

  async #changing(
    actor: Actor,
    action: Action,
    work: (tx: Transaction) => Promise<string | null>,
  ): Promise<User> {
    const where = { id: actor.userId };
    return this.#database.$transaction(async (tx) => {
      await lockUser(tx, actor.userId);
      const user = await tx.user.findUnique({ where });
      // The account was deleted after the token was checked.
      if (!user) throw unauthenticated();
      const avatarUrl = await work(tx);
      if (avatarUrl === user.avatarUrl) return user;
      const changed = await tx.user.update({ where, data: { avatarUrl } });
      await note(tx, actor, action);
      await enqueue(tx, { type: 'identity.user.updated', data: { user_id: actor.userId } });
      return changed;
    });
  }
}
