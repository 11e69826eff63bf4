export { FairQueue, type FairQueueOptions, QueueFull, type Turn } from './fair-queue.ts';
export { Shares } from './shares.ts';
