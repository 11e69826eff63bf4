import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Runs the start in a process of its own; returns the modules of OpenTelemetry that it loaded, besides the API. */
const modulesLoaded = async (environment: Record<string, string>): Promise<string[]> => {
  const program = `
    import { createRequire } from 'node:module';
    const { startTelemetry, span } = await import(${JSON.stringify(source('./index.ts'))});
    const stop = await startTelemetry('test');
    await span('work', { kind: 'internal', attributes: {} }, async () => undefined);
    await stop();
    const loaded = Object.keys(createRequire('file:///').cache);
    console.log(JSON.stringify(loaded.filter((path) => /@opentelemetry\\/(?!api\\/)/.test(path))));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', '--input-type=module', '--eval', program],
    { cwd: source('../../..'), env: { PATH: process.env.PATH, ...environment } },
  );
  return JSON.parse(stdout) as string[];
};

test('The SDK is loaded only if there is an endpoint', async () => {
  // Nothing listens on this port: what cannot be sent does not keep the process from ending.
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:9';
  const [off, disabled, on, protobuf] = await Promise.all([
    modulesLoaded({}),
    modulesLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' }),
    modulesLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT }),
    modulesLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }),
  ]);
  expect([off, disabled]).toEqual([[], []]);
  expect(on.join()).toContain('/exporter-trace-otlp-http/');
  expect(protobuf.join()).toContain('/exporter-trace-otlp-proto/');
});
