export { BackgroundTasks } from './background-tasks.ts';
export { type Listener, type ListenOptions, listen } from './listen.ts';
export { type AdvisoryLock, onOneReplica } from './one-replica.ts';
export {
  type PeriodicWork,
  type PeriodicWorkOptions,
  startPeriodicWork,
} from './periodic-work.ts';
