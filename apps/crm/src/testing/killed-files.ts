import type { JobHandler, JobQueue, JobRun } from '@tessera/background-work/jobs';
import type { FileStore } from '@tessera/file-store';
import { readConfig } from '../config.ts';
import { createContext } from '../context.ts';
import { createDocuments } from '../features/documents/documents.service.ts';
import { purgeHandler } from '../features/documents/purge.ts';
import { createFiles, type Files } from '../files/files.ts';
import { fileRemovalHandler } from '../files/removal.ts';
import { createServices } from '../services.ts';
import { callerIn } from './records.ts';

/** What a process was doing when it was killed, and for which tenant. */
export type KilledWork =
  | { readonly work: 'upload'; readonly step: string; readonly tenantId: string }
  | {
      readonly work: 'delete';
      readonly step: string;
      readonly tenantId: string;
      readonly id: string;
      readonly objectId: string;
    };

/**
 * A process that uploads documents and deletes others for good, each for a tenant of its own. Each stops at its step,
 * and the process kills itself when all have reached theirs. The argument is the list of them, as JSON.
 */
const works: readonly KilledWork[] = JSON.parse(process.argv[2] ?? '');

let running = works.length;

/** The steps of the work of a tenant: ends the process, or waits for its end, if `reached` is where it stops. */
const stepsOf =
  (tenantId: string) =>
  async (reached: string): Promise<void> => {
    if (!works.some((work) => work.tenantId === tenantId && work.step === reached)) return;
    running -= 1;
    if (running === 0) process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  };

const context = createContext(readConfig(process.env), { enqueueOnly: true });
const { database, jobs } = context;
// Declares the jobs.
createServices(context);

const store: FileStore = Object.create(context.fileStore, {
  put: {
    value: async (...[id, content, options]: Parameters<FileStore['put']>) => {
      const reach = stepsOf(id.tenantId);
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
      const reach = stepsOf(id.tenantId);
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
      await stepsOf(input[0].tenantId)('referred');
      return id;
    },
  },
  release: {
    value: async (...input: Parameters<Files['release']>) => {
      await made.release(...input);
      await stepsOf(input[0].tenantId)('released');
    },
  },
});

const run: JobRun = {
  id: '',
  attempt: 1,
  signal: new AbortController().signal,
  stopping: new AbortController().signal,
  othersWait: async () => false,
};
const handle = ({ handle: handler }: JobHandler, payload: object): Promise<unknown> =>
  (handler as (payload: object, run: JobRun) => Promise<void>)(payload, run);

const documents = createDocuments({ database, files, jobs });

const upload = async (tenantId: string): Promise<void> => {
  const content = async function* () {
    for (let part = 0; part < 4; part += 1) yield Buffer.alloc(100_000, tenantId);
  };
  const fields = { name: 'a.txt', folder_id: null, description: null, tags: [] };
  const sent = { content: content(), announcedSize: null, type: 'text/plain' };
  await documents.create(callerIn(tenantId), fields, sent, (save) => save());
  await stepsOf(tenantId)('saved');
};

const deleteForGood = async (tenantId: string, id: string, objectId: string): Promise<void> => {
  await handle(purgeHandler({ database, files }), { tenant_id: tenantId, id });
  await stepsOf(tenantId)('purged');
  await handle(fileRemovalHandler({ database, store }), { tenant_id: tenantId, id: objectId });
  await stepsOf(tenantId)('forgotten');
};

await context.start();
await Promise.all(
  works.map(async (work) => {
    if (work.work === 'upload') await upload(work.tenantId);
    else await deleteForGood(work.tenantId, work.id, work.objectId);
    throw new Error(`The work of ${work.work} did not stop at "${work.step}".`);
  }),
);
