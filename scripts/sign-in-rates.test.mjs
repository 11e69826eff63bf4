import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const read = (name) => readFileSync(join(root, 'docs', `${name}.md`), 'utf8');

/** The sign-ins per second of each cost of bcrypt, as `npm run bench` has measured them. */
const measured = [
  ...read('benchmarks').matchAll(/^\| password logins, bcrypt at cost (\d+) \| ([\d.]+) \|/gm),
].map(([, cost, rate]) => ({ cost, rate }));

test('All pages name the measured rates of sign-ins', () => {
  expect(measured.map(({ cost }) => cost)).toEqual(['10', '11', '12']);
  const operations = read('operations');
  for (const { cost, rate } of measured) {
    expect(operations).toMatch(
      new RegExp(`^\\| ${cost}(?: \\(default\\))? \\| ${rate.replace('.', '\\.')} \\|$`, 'm'),
    );
  }
  const byDefault = measured.at(-1).rate;
  expect(read('capacity')).toContain(`(${byDefault} sign-ins per second on two cores)`);
});
