import type { Attempts } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { type PictureFiles, pictureOf } from './picture.image.ts';
import type { PictureRepository } from './picture.repository.ts';

interface Dependencies {
  readonly repository: PictureRepository;
  /** By account: how often its picture may be changed. */
  readonly changes: Attempts;
}

/** The pictures of people. */
export class PictureService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Null where there is no such picture, or not any more. */
  file(key: string, size: keyof PictureFiles): Promise<Uint8Array | null> {
    return this.#use.repository.file(key, size);
  }

  /**
   * Gives the caller a picture, made of an image file; gives their profile. 422 on `picture` where the file
   * is no image that is taken, 429 after too many, 503 where too many are being converted.
   */
  async set(caller: UserCaller, content: Buffer, origin: Origin): Promise<User> {
    const { repository, changes } = this.#use;
    await changes.take(caller.id);
    return repository.set(actorOf(caller, origin), await pictureOf(content));
  }

  /** Takes the caller's picture away; gives their profile. */
  remove(caller: UserCaller, origin: Origin): Promise<User> {
    return this.#use.repository.remove(actorOf(caller, origin));
  }
}
