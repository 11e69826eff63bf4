import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from './bootstrap.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** How long a program may take to end after a signal. */
const PATIENCE_MS = 10_000;
/** The programs that this process runs at the moment. */
const running = new Set();
const isWindows = process.platform === 'win32';

/** Sends a signal to all processes of a group that still run. */
const signalGroup = ({ pid }, signal) => {
  try {
    process.kill(isWindows ? pid : -pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
};

/**
 * Runs a program in a process group of its own, so that a program that kills its group ends alone. Resolves to whether
 * it succeeded. Signals such as that of Ctrl-C are forwarded to the groups of all programs and, when these have ended, end
 * this process, too; until then, no call returns, so that nothing else is started. If the program itself is ended by a
 * signal, so is the rest of its group. With `ipc` in `stdio`, `onMessage` gets what a Node program sends. After
 * `patienceMs`, what has not ended is killed; a program that runs others in this way needs more than they do.
 */
export const inOwnGroup = async (
  command,
  args,
  // A terminal is readable by one group only.
  {
    variables,
    stdio = ['ignore', 'inherit', 'inherit'],
    onMessage = () => {},
    patienceMs = PATIENCE_MS,
  } = {},
) => {
  const program = spawn(command, args, {
    cwd: root,
    stdio,
    env: { ...process.env, ...variables },
    detached: !isWindows,
    shell: isWindows && command !== process.execPath,
  });
  program.on('message', onMessage);
  // Not `exit`: a message may arrive after it.
  const ended = once(program, 'close');
  if (program.pid === undefined) await ended;
  running.add(program);
  let received;
  let killing;
  const forward = (signal) => {
    received = signal;
    signalGroup(program, signal);
    killing ??= setTimeout(() => signalGroup(program, 'SIGKILL'), patienceMs);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  const [code, signal] = await ended;
  running.delete(program);
  clearTimeout(killing);
  for (const name of SIGNALS) process.off(name, forward);
  if (signal !== null || received) signalGroup(program, 'SIGKILL');
  if (signal !== null) console.error(`${command} was ended by ${signal}.`);
  if (received) {
    // The last program ends this process.
    if (running.size > 0) await new Promise(() => {});
    process.kill(process.pid, received);
  }
  return code === 0;
};
