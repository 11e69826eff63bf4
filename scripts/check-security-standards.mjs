// Checks docs/security-standards.md: every requirement of ASVS 5.0 at levels 1 and 2 has one row, and what counts as
// met names tests that exist.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

/** Section of ASVS 5.0 to its requirements of levels 1 and 2, without WebRTC. */
export const requirements = Object.entries(
  JSON.parse(readFileSync(join(root, 'scripts/security-standards.json'), 'utf8')),
).flatMap(([section, numbers]) => numbers.map((number) => `${section}.${number}`));

const STATUSES = new Set(['met', 'operator', 'not applicable', 'not met']);
const TEST = /\.test\.(ts|mjs)$|^\.github\/|^SECURITY\.md$/;

const cellsOf = (line) =>
  line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

/** The rows of all tables that have a column for the status. */
const rowsOf = (page) =>
  page
    .split('\n\n')
    .filter((block) => cellsOf(block.split('\n')[0])[1] === 'status' && block.includes('how'))
    .flatMap((block) => block.trim().split('\n').slice(2))
    .map(cellsOf)
    .map(([points, status, how, tests]) => ({ points: points.split(', '), status, how, tests }));

/** The faults of a page, each as a sentence; empty if there are none. */
export const faultsOf = (page, exists = (path) => existsSync(join(root, path))) => {
  const rows = rowsOf(page);
  const found = rows
    .flatMap(({ points }) => points)
    .filter((point) => /^\d+\.\d+\.\d+$/.test(point));
  const known = new Set(requirements);
  return [
    ...requirements.filter((one) => !found.includes(one)).map((one) => `${one} is missing`),
    ...found.filter((one, i) => found.indexOf(one) !== i).map((one) => `${one} has two rows`),
    ...found.filter((one) => !known.has(one)).map((one) => `${one} is no requirement`),
    ...rows.flatMap(({ points, status, how, tests }) => {
      const paths = [...tests.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map((match) => match[1]);
      return [
        ...(STATUSES.has(status) ? [] : [`${points[0]} has the unknown status "${status}"`]),
        ...(how === '' ? [`${points[0]} does not say how`] : []),
        ...(status === 'met' && paths.length === 0 ? [`${points[0]} names no test`] : []),
        ...paths.filter((path) => !TEST.test(path)).map((path) => `${path} is not a test`),
        ...paths.filter((path) => !exists(path)).map((path) => `${path} does not exist`),
      ];
    }),
  ];
};
