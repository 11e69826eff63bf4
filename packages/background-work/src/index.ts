export { BackgroundTasks } from './background-tasks.ts';
export { addJobCommands, type RunWithQueue } from './jobs/commands.ts';
export type { JobTransaction } from './jobs/database.ts';
export type { DeadJob, DeadJobs } from './jobs/dead-jobs.ts';
export {
  defineJob,
  handleJob,
  type Job,
  type JobHandler,
  type JobOptions,
  type JobRun,
} from './jobs/job.ts';
export type { JobCounts } from './jobs/metrics.ts';
export { type EnqueueOptions, JobQueue, type JobQueueOptions } from './jobs/queue.ts';
export { type Listener, type ListenOptions, listen } from './listen.ts';
export { type AdvisoryLock, onOneReplica } from './one-replica.ts';
export {
  type PeriodicWork,
  type PeriodicWorkOptions,
  startPeriodicWork,
} from './periodic-work.ts';
