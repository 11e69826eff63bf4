import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { root } from './bootstrap.mjs';

const commandOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

/**
 * Processes of this checkout, such as servers started by tests. Finds none on systems without /proc.
 */
const running = () => {
  if (process.platform !== 'linux') return new Map();
  const pids = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  );
  const isOurs = (command) =>
    command.includes(root) && /postgres|mokapi|kafka|apps\/|local-stack|keep\.mjs/.test(command);
  return new Map(pids.map((pid) => [pid, commandOf(pid)]).filter(([, command]) => isOurs(command)));
};

/** Fails if processes are left after a grace period for shutdown. */
const PATIENCE_MS = 30_000;

export const noProcessLeft = {
  running,
  async since(before) {
    const left = () => [...running()].filter(([pid]) => !before.has(pid));
    const until = Date.now() + PATIENCE_MS;
    while (left().length > 0 && Date.now() < until) await setTimeout(50);
    const commands = left().map(([, command]) => command);
    if (commands.length > 0) throw new Error(`Processes left running:\n${commands.join('\n')}`);
  },
};
