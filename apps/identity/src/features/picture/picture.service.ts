import type { ConvertedPicture } from '@tessera/content-worker';
import type { Attempts } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { User } from '../../generated/prisma/client.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { PictureConversions } from './picture.image.ts';
import type { PictureRepository } from './picture.repository.ts';
import { PictureUploads, shareOf, type UploadPlace } from './picture.uploads.ts';

interface Dependencies {
  readonly repository: PictureRepository;
  /** Rate limit of picture changes per account. */
  readonly changes: Attempts;
}

/** Profile pictures. */
export class PictureService {
  readonly #use: Dependencies;
  readonly #uploads = new PictureUploads();
  readonly #conversions = new PictureConversions();

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** Null if there is no such picture. */
  file(key: string, size: keyof ConvertedPicture): Promise<Uint8Array | null> {
    return this.#use.repository.file(key, size);
  }

  /**
   * Takes a place for a new picture, which must be left in the end, before any of it is read. `announcedSize` is the
   * number of bytes that the client announced. 429 after too many changes and while the account uploads another
   * picture, 503 if too many are received.
   */
  async begin(caller: UserCaller, announcedSize: number | null): Promise<UploadPlace> {
    const place = this.#uploads.begin(caller, announcedSize);
    try {
      await this.#use.changes.take(caller.id);
      return place;
    } catch (error) {
      place.leave();
      throw error;
    }
  }

  /**
   * Sets the caller's picture; returns their profile. 422 on `picture` if the file is not an image of an accepted type and
   * size, 503 if the queue is full.
   */
  async set(caller: UserCaller, content: Buffer, origin: Origin): Promise<User> {
    const files = await this.#conversions.convert(shareOf(caller), content);
    return this.#use.repository.set(actorOf(caller, origin), files);
  }

  /** Removes the caller's picture; returns their profile. */
  remove(caller: UserCaller, origin: Origin): Promise<User> {
    return this.#use.repository.remove(actorOf(caller, origin));
  }
}
