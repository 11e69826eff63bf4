import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

const keeper = fileURLToPath(new URL('../tools/keep.mjs', import.meta.url));

export interface KeptCommand {
  command: string;
  args: string[];
  /** The working directory. Default: that of this process. */
  cwd?: string | undefined;
  /** The account that runs it, when it must not be ours. */
  uid?: number | undefined;
  gid?: number | undefined;
  /** What ends it in good order. After 3 s without success SIGQUIT follows. */
  signal: NodeJS.Signals;
  /** A directory that goes when the command has ended. */
  remove?: string | undefined;
  /** Variables beside those of this process; unlike arguments, other accounts cannot read them. */
  environment?: Readonly<Record<string, string>> | undefined;
  /** File descriptor that takes the command's output. */
  output: number;
}

export interface KeptProcess {
  /** Settles when the command has ended, for whatever reason, with its exit code. */
  exited: Promise<number>;
  /** Ends the command in good order and waits for that. May be called twice. */
  stop(): Promise<void>;
  /** Ends the command as a crash would (SIGKILL) and waits for that. */
  kill(): Promise<void>;
}

/**
 * Starts a command that lives no longer than this process, even when this one is killed with SIGKILL,
 * and that the terminal's Ctrl-C does not reach. It does not keep this process alive either.
 */
export function keepProcess({ output, environment, ...command }: KeptCommand): KeptProcess {
  const child: ChildProcess = spawn(process.execPath, [keeper, JSON.stringify(command)], {
    detached: true,
    env: { ...process.env, ...environment },
    stdio: ['pipe', output, output],
  });
  const exited = once(child, 'exit').then(([code]) => Number(code ?? 1));
  exited.catch(() => {});
  const pipe = child.stdin as Socket;
  pipe.on('error', () => {});
  pipe.unref();
  child.unref();
  const end = async (how: () => void): Promise<void> => {
    child.ref();
    how();
    await exited;
  };
  return {
    exited,
    stop: () => end(() => pipe.destroy()),
    kill: () => end(() => pipe.write('kill')),
  };
}
