import { setImmediate as next } from 'node:timers/promises';
import { createFolderStore } from '../folder-store.ts';

/** A process that writes an object without end, and prints a dot for each part. */
const [folder = '', tenantId = '', id = ''] = process.argv.slice(2);

const content = async function* () {
  for (;;) {
    yield Buffer.alloc(1024);
    process.stdout.write('.');
    await next();
  }
};

await createFolderStore(folder).write({ tenantId, id }, content());
