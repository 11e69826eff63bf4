// A process for the tests of `runProcess`: prints "ready", then behaves as its argument says.
import { setTimeout as later } from 'node:timers/promises';
import { createLogger } from '../logs.ts';
import { runProcess } from '../process.ts';

const [behaviour] = process.argv.slice(2);
const forever = new Promise<never>(() => setInterval(() => {}, 60_000));

const starts: Record<string, () => Promise<() => Promise<void>>> = {
  async 'stops in order'() {
    setInterval(() => {}, 60_000);
    return async () => {
      await later(50);
      process.stdout.write('in order\n');
    };
  },
  async 'does not start'() {
    throw new Error('Port 1 is taken; set THINGS_PORT to a free one.');
  },
  async 'fails to stop'() {
    setInterval(() => {}, 60_000);
    return () => Promise.reject(new Error('the database is unavailable'));
  },
  async 'never stops'() {
    return () => forever;
  },
  'never starts': () => forever,
  async 'throws later'() {
    setImmediate(() => {
      throw new Error('nobody caught this');
    });
    return async () => {};
  },
  async 'rejects later'() {
    void Promise.reject(new Error('nobody awaited this'));
    return async () => {};
  },
};

const start = starts[behaviour ?? ''];
if (!start) throw new Error(`There is no behaviour called "${behaviour}".`);
const running = runProcess(createLogger('things', 'info'), start);
if (behaviour !== 'never starts') await running;
process.stdout.write('ready\n');
