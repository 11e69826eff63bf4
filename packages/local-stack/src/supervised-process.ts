import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Isolation } from './isolation.ts';

const keeper = fileURLToPath(new URL('../tools/keep.mjs', import.meta.url));

export interface SupervisedCommand {
  command: string;
  args: string[];
  /** The working directory. Default: that of this process. */
  cwd?: string | undefined;
  /** The account that runs it, if not that of this process. */
  uid?: number | undefined;
  gid?: number | undefined;
  /** Signal for a graceful stop. SIGQUIT follows after 3 s. */
  signal: NodeJS.Signals;
  /** A directory to remove after the command has ended. */
  remove?: string | undefined;
  /** Additional environment variables; unlike arguments, other accounts cannot read them. */
  environment?: Readonly<Record<string, string>> | undefined;
  /** Runs it in a network namespace of its own, from which a socket leads to its port. */
  isolated?: (Isolation & { readonly port: number }) | undefined;
  /** File descriptor of the command's output. */
  output: number;
}

export interface SupervisedProcess {
  /** Settles with the exit code when the command has ended for any reason. */
  exited: Promise<number>;
  /** Stops the command gracefully and waits for its end. May be called twice. */
  stop(): Promise<void>;
  /** Kills the command (SIGKILL) and waits for its end. */
  kill(): Promise<void>;
  /** Sends a signal to the command, such as SIGSTOP and SIGCONT. */
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts a command that ends with this process, even if that is killed with SIGKILL, and that does not receive
 * the terminal's Ctrl-C. It does not keep this process alive.
 */
export function superviseProcess({
  output,
  environment,
  ...command
}: SupervisedCommand): SupervisedProcess {
  const [program = '', ...args] = [
    ...(command.isolated?.unshare ?? []),
    process.execPath,
    keeper,
    JSON.stringify(command),
  ];
  const child: ChildProcess = spawn(program, args, {
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
    kill: () => end(() => pipe.write('SIGKILL\n')),
    signal: (name) => void pipe.write(`${name}\n`),
  };
}
