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

/** Processes of this checkout: servers and apps that tests start. Where there is no /proc, none are seen. */
const running = () => {
  if (process.platform !== 'linux') return new Map();
  const pids = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  );
  const isOurs = (command) =>
    command.includes(root) && /postgres|mokapi|kafka|apps\/|local-stack|keep\.mjs/.test(command);
  return new Map(pids.map((pid) => [pid, commandOf(pid)]).filter(([, command]) => isOurs(command)));
};

/** A process may end a while after the one that told it to: servers are given time to finish. */
const PATIENCE_MS = 30_000;

export const noProcessLeft = {
  running,
  async since(before) {
    const left = () => [...running()].filter(([pid]) => !before.has(pid));
    const until = Date.now() + PATIENCE_MS;
    while (left().length > 0 && Date.now() < until) await setTimeout(50);
    const commands = left().map(([, command]) => command);
    if (commands.length > 0) throw new Error(`Left behind:\n${commands.join('\n')}`);
  },
};
