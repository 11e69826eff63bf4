import type { Readable } from 'node:stream';
import { Shares } from '@tessera/fair-shares';
import { HttpError, InFlight } from '@tessera/http-kit';
import type { UserCaller } from '../../tokens/caller.ts';
import { MAX_BYTES, overloaded } from './picture.image.ts';

/** The bytes of all files that are received, wait or are converted, in this process. */
const MAX_RECEIVED = 5 * MAX_BYTES;

/** Whose share an upload takes: that of the tenant, or of the account if it acts for none. */
export const shareOf = ({ id, tenant }: UserCaller): string => tenant?.id ?? id;

/** 429: the account uploads a picture already. */
const alreadyUploading = (): HttpError =>
  new HttpError(429, 'too_many_uploads', 'You are uploading a picture already. Try again soon.', {
    headers: { 'Retry-After': '10' },
    details: { limit: 'uploads_per_account', max_uploads: 1 },
  });

/** A place for the bytes of a picture. */
export interface UploadPlace {
  /** Reads the file; rejects with the error of the stream. */
  read(content: Readable): Promise<Buffer>;
  /** Gives the place to others; has no effect the second time. */
  leave(): void;
}

/**
 * Bounds what is received before any of it is read: one picture for each account, and for all of them together an amount of
 * bytes of which one tenant has at most half.
 */
export class PictureUploads {
  readonly #ofAccounts = new InFlight(1);
  readonly #bytes = new Shares(MAX_RECEIVED);

  /**
   * Takes a place for a file whose client announced `announcedSize` bytes, or nothing. 429 if the account uploads a picture
   * already, 503 if there is no memory for another one.
   */
  begin(caller: UserCaller, announcedSize: number | null): UploadPlace {
    const size = Math.min(announcedSize ?? MAX_BYTES, MAX_BYTES);
    const share = shareOf(caller);
    if (!this.#ofAccounts.begin(caller.id)) throw alreadyUploading();
    if (!this.#bytes.take(share, size)) {
      this.#ofAccounts.end(caller.id);
      throw overloaded();
    }
    let isLeft = false;
    return {
      async read(content) {
        // In one piece from the beginning: joining the pieces at the end would take twice the memory.
        const file = Buffer.allocUnsafeSlow(size);
        let length = 0;
        for await (const chunk of content as AsyncIterable<Buffer>) {
          length += chunk.copy(file, length);
        }
        return file.subarray(0, length);
      },
      leave: () => {
        if (isLeft) return;
        isLeft = true;
        this.#ofAccounts.end(caller.id);
        this.#bytes.give(share, size);
      },
    };
  }
}
