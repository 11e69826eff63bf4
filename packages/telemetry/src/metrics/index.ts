export { type CacheReading, CacheUse, registerCaches } from './caches.ts';
export { type Backlog, registerOutbox } from './outbox.ts';
export { type PoolReading, registerPools } from './pools.ts';
export { registerReadGauge } from './read-gauge.ts';
export { type Read, readSometimes } from './read-sometimes.ts';
