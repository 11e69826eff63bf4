import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';

export interface CrmProcess {
  readonly child: ChildProcess;
  /** All that it has written so far. */
  said(): string;
  /** The address that it listens on, once it says so. */
  ready(): Promise<string>;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Starts CRM's `main.ts` as a process of its own, with these variables and no others. */
export const spawnCrm = (environment: Readonly<Record<string, string>>): CrmProcess => {
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', 'src/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, ...environment },
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const said = (): string => output.join('');
  const address = (): string | undefined => /"url":"(http:[^"]+)"/.exec(said())?.[1];
  return {
    child,
    said,
    async ready() {
      await eventually('CRM listens', () => address() !== undefined || child.exitCode !== null);
      const url = address();
      if (url === undefined) throw new Error(`It did not start: ${said()}`);
      return url;
    },
    ended,
  };
};
