import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Postgres, startPostgres, throwawaySettings } from './postgres.ts';

const run = promisify(execFile);

export interface Replicated {
  readonly primary: Postgres;
  readonly replica: Postgres;
  stop(): Promise<void>;
}

/** Settings of a primary whose commits wait until the replica has written them. */
export const synchronousSettings = {
  synchronous_standby_names: '*',
  synchronous_commit: 'on',
};

/** Starts a primary, with further settings of its own, and a streaming replica of it. */
export const startReplicated = async (
  ofPrimary: Readonly<Record<string, string>> = {},
): Promise<Replicated> => {
  const home = await mkdtemp(path.join(tmpdir(), 'tessera-replica-'));
  const [first, second] = [path.join(home, 'primary'), path.join(home, 'replica')];
  // The account that runs the servers must have access to the directory.
  await run('chmod', ['755', home]);
  const settings = throwawaySettings;
  // The files of a stopped server are consistent and can be copied.
  await (await startPostgres({ directory: first, settings })).stop();
  await run('cp', ['-a', first, second]);
  await writeFile(path.join(second, 'data/standby.signal'), '');
  const primary = await startPostgres({
    directory: first,
    settings: { ...settings, ...ofPrimary },
  });
  const source = new URL(primary.url('postgres'));
  const replica = await startPostgres({
    directory: second,
    settings: {
      ...settings,
      primary_conninfo: `host=${source.hostname} port=${source.port} user=${source.username} password=${source.password}`,
    },
  });
  return {
    primary,
    replica,
    async stop() {
      await replica.stop();
      await primary.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
};
