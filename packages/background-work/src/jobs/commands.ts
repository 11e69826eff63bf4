import type { Command } from 'commander';
import type { JobQueue } from './queue.ts';

/** Runs a command's work with a queue that was started without handlers, and prints the result. */
export type RunWithQueue = (work: (queue: JobQueue) => Promise<object>) => Promise<void>;

/** Adds `jobs status`, `jobs dead`, `jobs retry` and `jobs delete` to an administration program. */
export const addJobCommands = (program: Command, run: RunWithQueue): void => {
  const jobs = program.command('jobs').description('inspect background jobs, and retry dead ones');
  jobs
    .command('status')
    .description('count waiting, running and dead jobs by kind, as of a few seconds ago')
    .action(() => run((queue) => queue.counts()));
  jobs
    .command('dead [job]')
    .description('list jobs that failed after all their attempts, with the last error')
    .action((job?: string) => run((queue) => queue.dead.list(job)));
  jobs
    .command('retry <job> [ids...]')
    .description('enqueue dead jobs of a kind again: those with these ids, or all of them')
    .action((job: string, ids: string[]) =>
      run(async (queue) => ({
        retried: await queue.dead.retry(job, ids.length > 0 ? ids : undefined),
      })),
    );
  jobs
    .command('delete <job> <ids...>')
    .description('delete dead jobs of a kind for good')
    .action((job: string, ids: string[]) =>
      run(async (queue) => ({ deleted: await queue.dead.remove(job, ids) })),
    );
};
