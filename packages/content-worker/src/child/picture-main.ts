// The program that converts profile pictures, for a service that has none of the libraries for documents. Decoding takes
// memory that the allocator of a service would not return to the system; it ends with this process.
import { PICTURE_TOO_LARGE } from '../picture-limits.ts';
import { PictureTooLarge, pictureOf } from './picture.ts';
import { runTask, TaskFailed } from './run-task.ts';

await runTask({
  picture: (content) =>
    pictureOf(content).catch((error: unknown) => {
      throw error instanceof PictureTooLarge
        ? new TaskFailed(PICTURE_TOO_LARGE, error.message)
        : error;
    }),
  /** Proves that a packaged service has the libraries. */
  load: async () => 'loaded',
});
