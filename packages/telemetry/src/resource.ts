import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';

/** Shorter than the limit for the stop of a process, so that a receiver that hangs does not turn it into a failure. */
const FLUSH_LIMIT_MS = 1000;

/** What all spans and metrics of this process have. The id of the instance keeps replicas and workers apart. */
export const resourceOf = (service: string): Resource =>
  detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }).merge(
    resourceFromAttributes({ 'service.name': service }),
  );

/** Sends what is left, for a limited time; never rejects. */
export const flushed = async (provider: { shutdown(): Promise<void> }): Promise<void> => {
  const limit = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_LIMIT_MS).unref());
  await Promise.race([provider.shutdown().catch(() => undefined), limit]);
};
