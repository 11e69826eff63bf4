import type { Registry } from 'prom-client';
import type { FromWorker, ToWorker } from './messages.ts';

/** Sends a message to the primary process. Without one, this process is about to end. */
export const tellPrimary = (message: FromWorker): void => {
  if (process.connected) process.send?.(message);
};

/** Calls `listener` for each message of this type from the primary process. */
export const onPrimary = <T extends ToWorker['type']>(
  type: T,
  listener: (message: Extract<ToWorker, { type: T }>) => void,
): void => {
  process.on('message', (message: ToWorker) => {
    if (message.type === type) listener(message as Extract<ToWorker, { type: T }>);
  });
};

/** Answers the primary process when it collects metrics. */
export const reportMetrics = (registry: Registry): void =>
  onPrimary('metrics', ({ id }) => {
    registry.getMetricsAsJSON().then(
      (metrics) => tellPrimary({ type: 'metrics', id, metrics }),
      // The primary process reports the others without this one.
      () => tellPrimary({ type: 'metrics', id, metrics: [] }),
    );
  });
