import type { Attempts } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { PictureFiles } from './picture.files.ts';
import { pictureOf } from './picture.image.ts';
import type { PictureRepository } from './picture.repository.ts';

interface Dependencies {
  readonly repository: PictureRepository;
  /** Rate limit of picture changes per account. */
  readonly changes: Attempts;
}

/** Profile pictures. */
export class PictureService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Null if there is no such picture. */
  file(key: string, size: keyof PictureFiles): Promise<Uint8Array | null> {
    return this.#use.repository.file(key, size);
  }

  /**
   * Sets the caller's picture; returns their profile. 422 on `picture` if the file is not an image of an
   * accepted type, 429 after too many changes, 503 if the queue is full.
   */
  async set(caller: UserCaller, content: Buffer, origin: Origin): Promise<User> {
    const { repository, changes } = this.#use;
    await changes.take(caller.id);
    return repository.set(actorOf(caller, origin), await pictureOf(content));
  }

  /** Removes the caller's picture; returns their profile. */
  remove(caller: UserCaller, origin: Origin): Promise<User> {
    return this.#use.repository.remove(actorOf(caller, origin));
  }
}
