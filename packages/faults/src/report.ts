import { cpus } from 'node:os';
import type { Result } from './run.ts';

const header = `| fault | seconds | requests | refused | no answer | wrong | events lost | recovery (s) | remark |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |`;

const row = (result: Result): string => {
  const { title, seconds, requests, refused, lost, wrong, eventsLost, recoveryMs } = result;
  const recovery = recoveryMs === undefined ? 'none in 60' : (recoveryMs / 1000).toFixed(1);
  const cells = [title, seconds, requests, refused, lost, wrong.length, eventsLost, recovery];
  return `| ${cells.join(' | ')} | ${result.remarks.join('; ')} |`;
};

export const table = (results: readonly Result[]): string =>
  [header, ...results.map(row)].join('\n');

/** Whether a result is as promised: nothing wrong, no event lost, recovered. */
export const isRight = ({ wrong, eventsLost, recoveryMs }: Result): boolean =>
  wrong.length === 0 && eventsLost === 0 && recoveryMs !== undefined;

const BEGIN = '<!-- begin: measured by npm run test:faults -->';
const END = '<!-- end -->';

/** The page with these results between its markers. */
export const withResults = (page: string, results: readonly Result[]): string => {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new Error('The page has no markers for the results.');
  const [first] = cpus();
  const machine = `${cpus().length} × ${first?.model.trim() ?? 'unknown CPU'}, Node ${process.versions.node}`;
  const date = new Date().toISOString().slice(0, 10);
  const text = `${BEGIN}\n\nMeasured ${date} on ${machine}.\n\n${table(results)}\n\n`;
  return `${page.slice(0, begin)}${text}${page.slice(end)}`;
};
