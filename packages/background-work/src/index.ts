export { attemptEach } from './attempt-each.ts';
export { BackgroundTasks } from './background-tasks.ts';
export { createBell } from './bell.ts';
export {
  type Announcement,
  EventHub,
  type EventHubOptions,
  type Subscription,
} from './event-hub/event-hub.ts';
export type { HubEvent } from './event-hub/event-topic.ts';
export { type Follower, follow, type StoredEvents } from './event-hub/follow.ts';
export {
  type ExclusiveWorker,
  type ExclusiveWorkerOptions,
  startExclusiveWorker,
} from './exclusive-worker.ts';
export { type Listener, type ListenOptions, listen } from './listen.ts';
export { type AdvisoryLock, onOneReplica } from './one-replica.ts';
export {
  type PeriodicWork,
  type PeriodicWorkOptions,
  startPeriodicWork,
} from './periodic-work.ts';
