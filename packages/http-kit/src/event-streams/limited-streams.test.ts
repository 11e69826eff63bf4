import express from 'express';
import { listen } from '../index.ts';
import { createAccessChecks } from '../lasting-access.ts';
import type { Limits } from '../limits.ts';
import type { RouteEntry } from '../route.ts';
import { limitedStreams } from './limited-streams.ts';

test('Of two checks of a stream that overlap, the source gets the caller of the later one', async () => {
  const checks: ((caller: string) => void)[] = [];
  let changed = (): void => undefined;
  const { watch } = createAccessChecks<string>({
    authenticate: () => new Promise((resolve) => checks.push(resolve)),
    authorize: () => undefined,
    watch: (_caller, check) => {
      changed = check;
      return () => undefined;
    },
  });
  const send = limitedStreams<string>({
    watchAccess: watch,
    limits: { key: () => 'ada' } as unknown as Limits,
  });
  const seen: string[] = [];
  const source = async function* (signal: AbortSignal) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield* [];
  };
  const rechecked = (caller: string): void => {
    seen.push(caller);
  };
  const streamed = send({ permission: 'things.list' } as unknown as RouteEntry);
  const app = express().get('/', (req, res) =>
    streamed(req, res, Object.assign(source, { rechecked }), {}),
  );
  const server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const stopping = new AbortController();
  try {
    await fetch(server.url, { signal: stopping.signal });
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    while (checks.length < 1) await settled();
    changed();
    while (checks.length < 2) await settled();
    checks[1]?.('with present rights');
    await settled();
    checks[0]?.('with former rights');
    await settled();
    expect(seen).toEqual(['with present rights']);
  } finally {
    stopping.abort();
    await server.stop(0);
  }
});
