import { readdirSync, readFileSync } from 'node:fs';
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

export const noProcessLeft = {
  running,
  since(before) {
    const left = [...running()].filter(([pid]) => !before.has(pid));
    if (left.length > 0)
      throw new Error(`Left behind:\n${left.map(([, command]) => command).join('\n')}`);
  },
};
