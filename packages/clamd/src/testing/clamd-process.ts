import { createHash } from 'node:crypto';
import { access, mkdtemp, open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { superviseProcess, until } from '@tessera/local-stack';

/** A running clamd. */
export interface RunningClamd {
  readonly url: string;
  stop(): Promise<void>;
}

const configuration = (folder: string, maxBytes: number): string => `
DatabaseDirectory ${folder}
LocalSocket ${join(folder, 'clamd.sock')}
TemporaryDirectory ${folder}
Foreground yes
StreamMaxLength ${maxBytes}
AlertExceedsMax yes
`;

/**
 * Starts the machine's clamd on a socket, with a database of exactly these contents. It ends with this process. Throws
 * an error that says what to install if there is none.
 */
export const startClamd = async (
  signatures: ReadonlyMap<string, Buffer>,
  { maxBytes }: { readonly maxBytes: number },
): Promise<RunningClamd> => {
  const folder = await mkdtemp(join(tmpdir(), 'clamd-'));
  const lines = [...signatures].map(([name, content]) => {
    const hash = createHash('md5').update(content).digest('hex');
    return `${hash}:${content.length}:${name}\n`;
  });
  await writeFile(join(folder, 'test.hdb'), lines.join(''));
  const file = join(folder, 'clamd.conf');
  await writeFile(file, configuration(folder, maxBytes));
  const sink = await open('/dev/null', 'w');
  const server = superviseProcess({
    // Debian installs it where the paths of accounts other than root do not look.
    command: 'sh',
    args: ['-c', `PATH=$PATH:/usr/sbin exec clamd --config-file="$0"`, file],
    signal: 'SIGTERM',
    remove: folder,
    output: sink.fd,
  });
  await sink.close();
  let code: number | undefined;
  server.exited.then((ended) => {
    code = ended;
  });
  const path = join(folder, 'clamd.sock');
  const isListening = (): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );
  await until(async () => code !== undefined || (await isListening()));
  if (code !== undefined) {
    throw new Error(`clamd did not start (${code}). It must be installed (Debian: clamav-daemon).`);
  }
  return { url: `unix:${path}`, stop: () => server.stop() };
};
