/** What is exported. */
export type Signal = 'TRACES' | 'METRICS';

/** How it is encoded; both by HTTP. */
export type Protocol = 'http/json' | 'http/protobuf';

const isProtocol = (text: string): text is Protocol =>
  text === 'http/json' || text === 'http/protobuf';

/** Whether the standard variables of OpenTelemetry ask for a signal. */
export const isConfigured = (signal: Signal, environment: NodeJS.ProcessEnv): boolean =>
  environment.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  environment[`OTEL_${signal}_EXPORTER`] !== 'none' &&
  [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT'].some((name) =>
    Boolean(environment[name]),
  );

/** The protocol of a signal; throws if the variables name one that is not supported, such as gRPC. */
export const protocolOf = (signal: Signal, environment: NodeJS.ProcessEnv): Protocol => {
  for (const name of [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const protocol = environment[name];
    if (!protocol) continue;
    if (isProtocol(protocol)) return protocol;
    throw new Error(`${name} must be http/json or http/protobuf.`);
  }
  return 'http/json';
};
