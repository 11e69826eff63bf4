export { FairCache } from './fair-cache.ts';
export { FairQueue, type FairQueueOptions, QueueFull, type Turn } from './fair-queue.ts';
export { type Holder, ReplaceableShares } from './replaceable-shares.ts';
export { type Portion, Shares } from './shares.ts';
export { Slices } from './slices.ts';
