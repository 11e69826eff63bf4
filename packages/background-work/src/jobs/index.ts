export { addJobCommands, type RunWithQueue } from './commands.ts';
export type { JobTransaction } from './database.ts';
export type { DeadJob, DeadJobs } from './dead-jobs.ts';
export {
  defineJob,
  handleJob,
  type Job,
  type JobHandler,
  type JobOptions,
  type JobRun,
} from './job.ts';
export type { JobCounts } from './metrics.ts';
export { type EnqueueOptions, JobQueue, type JobQueueOptions } from './queue.ts';
