import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { Service } from '../system.ts';

/** The largest resident memory of the services, in bytes, as the kernel keeps it. */
export interface PeakMemory {
  /** Begins anew. */
  reset(): Promise<void>;
  read(): Promise<Readonly<Record<Service, number>>>;
}

const statusOf = (pid: string): Promise<string> => readFile(`/proc/${pid}/status`, 'utf8');

const parentOf = async (pid: string): Promise<string> =>
  /PPid:\s+(\d+)/.exec(await statusOf(pid).catch(() => ''))?.[1] ?? '0';

const isDescendant = async (pid: string): Promise<boolean> => {
  for (let at = pid; at !== '0'; at = await parentOf(at)) if (at === `${process.pid}`) return true;
  return false;
};

/** The processes that run the bundle of a service and were started from this one. */
const processesOf = async (service: Service): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const isService = command.includes(`apps/${service}/dist/bundle/main.js`);
    if (isService && (await isDescendant(pid))) found.push(pid);
  }
  return found;
};

const SERVICES = ['identity', 'crm'] as const;

/** Reads `VmHWM`, which no peak escapes, however short. Linux only. */
export const peakMemory = (): PeakMemory => ({
  async reset() {
    for (const service of SERVICES) {
      for (const pid of await processesOf(service)) await writeFile(`/proc/${pid}/clear_refs`, '5');
    }
  },
  async read() {
    const peaks = { identity: 0, crm: 0 };
    for (const service of SERVICES) {
      for (const pid of await processesOf(service)) {
        const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(await statusOf(pid).catch(() => '')) ?? [];
        peaks[service] = Math.max(peaks[service], Number(kilobytes ?? 0) * 1024);
      }
    }
    return peaks;
  },
});
