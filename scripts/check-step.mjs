// Runs one step of `npm run check`, named by the argument, and sends its outcome to the process that started this one:
// `isRight`, for tests also the counts and the files, and the CPU seconds of all its processes (Linux only).
import { existsSync, readFileSync } from 'node:fs';
import { lanes, preparations } from './check-steps.mjs';

/** The unit of times in /proc: USER_HZ, which is 100 on all common platforms. */
const TICKS_PER_SECOND = 100;

/** The CPU seconds of this process and of all its descendants that have ended. */
const cpuSeconds = () => {
  const path = '/proc/self/stat';
  if (!existsSync(path)) return undefined;
  const stat = readFileSync(path, 'utf8');
  // The fields after the name of the program, which is in parentheses: utime, stime, cutime and cstime (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2);
  const times = fields.split(' ').slice(11, 15).map(Number);
  return times.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;
};

const [, , wanted] = process.argv;
const step = [...preparations, ...lanes.flat()].find(({ name }) => name === wanted);
if (!step) throw new Error(`There is no step "${wanted}".`);

let outcome = { isRight: false };
try {
  outcome = await step.run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
}
process.send({ ...outcome, cpu: cpuSeconds() }, () => process.disconnect());
