import type { JobHandler, JobQueue, JobRun } from '@tessera/background-work/jobs';
import type { FileStore } from '@tessera/file-store';
import { readConfig } from '../config.ts';
import { createContext } from '../context.ts';
import { createDocuments } from '../features/documents/documents.service.ts';
import { purgeHandler } from '../features/documents/purge.ts';
import { createFiles, type Files, fileRemovalHandler } from '../files/files.ts';
import { createServices } from '../services.ts';
import { callerIn } from './records.ts';

/**
 * A process that uploads a document, or deletes one for good, and kills itself at a step:
 * `upload <step> <tenant> <content>` or `delete <step> <tenant> <document> <object>`.
 */
const [work, step, tenantId = '', subject = '', object = ''] = process.argv.slice(2);

const reach = async (reached: string): Promise<void> => {
  if (reached !== step) return;
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => undefined);
};

const context = createContext(readConfig(process.env), { enqueueOnly: true });
const { database, jobs } = context;
// Declares the jobs.
createServices(context);

const store: FileStore = Object.create(context.fileStore, {
  put: {
    value: async (...[id, content, options]: Parameters<FileStore['put']>) => {
      await reach('announced');
      const watched = async function* () {
        let parts = 0;
        for await (const part of content) {
          yield part;
          parts += 1;
          if (parts === 2) await reach('half written');
        }
      };
      const stored = await context.fileStore.put(id, watched(), options);
      await reach('written');
      return stored;
    },
  },
  delete: {
    value: async (id: Parameters<FileStore['delete']>[0]) => {
      await reach('to be deleted');
      await context.fileStore.delete(id);
      await reach('object deleted');
    },
  },
});

/** Jobs of files that wait, so that no other process does what this one is killed at. */
const waitingJobs: Pick<JobQueue, 'enqueue'> = {
  enqueue: (db, job, payload, options) =>
    jobs.enqueue(db, job, payload, { runAt: new Date(Date.now() + 3_600_000), ...options }),
};

const made = createFiles({
  database,
  store,
  jobs: waitingJobs,
  maxBytes: 1e9,
  defaultQuota: undefined,
  onNewContent: [],
});
const files: Files = Object.create(made, {
  refer: {
    value: async (...input: Parameters<Files['refer']>) => {
      const id = await made.refer(...input);
      await reach('referred');
      return id;
    },
  },
  release: {
    value: async (...input: Parameters<Files['release']>) => {
      await made.release(...input);
      await reach('released');
    },
  },
});

const run: JobRun = {
  id: '',
  attempt: 1,
  signal: new AbortController().signal,
  stopping: new AbortController().signal,
};
const handle = ({ handle: handler }: JobHandler, id: string): Promise<unknown> =>
  (handler as (payload: object, run: JobRun) => Promise<void>)({ tenant_id: tenantId, id }, run);

await context.start();
if (work === 'upload') {
  const content = async function* () {
    for (let part = 0; part < 4; part += 1) yield Buffer.alloc(100_000, subject);
  };
  const documents = createDocuments({ database, files, jobs });
  const fields = { name: 'a.txt', folder_id: null, description: null, tags: [] };
  const sent = { content: content(), announcedSize: null, type: 'text/plain' };
  await documents.create(callerIn(tenantId), fields, sent, (save) => save());
  await reach('saved');
} else {
  await handle(purgeHandler({ database, files }), subject);
  await reach('purged');
  await handle(fileRemovalHandler({ database, store }), object);
  await reach('forgotten');
}
await context.stop();
