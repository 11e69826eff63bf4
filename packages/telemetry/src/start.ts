import { record } from './spans.ts';

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** Whether the standard variables of OpenTelemetry ask for traces. */
const isConfigured = (environment: NodeJS.ProcessEnv): boolean =>
  environment.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  environment.OTEL_TRACES_EXPORTER !== 'none' &&
  ENDPOINTS.some((name) => Boolean(environment[name]));

/**
 * Begins to record spans and to send them to the OTLP endpoint of the environment. Without an endpoint nothing is
 * recorded and the SDK is not loaded. The result sends what is left, and never rejects.
 */
export const startTelemetry = async (
  service: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<() => Promise<void>> => {
  if (!isConfigured(environment)) return async () => undefined;
  const { exportSpans } = await import('./export.ts');
  const stop = exportSpans(environment.OTEL_SERVICE_NAME || service);
  record(true);
  return async () => {
    record(false);
    await stop();
  };
};
