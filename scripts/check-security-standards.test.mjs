import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { faultsOf, requirements } from './check-security-standards.mjs';

const page = readFileSync(join(root, 'docs/security-standards.md'), 'utf8');

test('The page of security standards has each requirement, and tests that exist', () => {
  expect(requirements).toHaveLength(246);
  expect(faultsOf(page)).toEqual([]);
});

describe('What is wrong on the page is found:', () => {
  const row = page.split('\n').find((line) => line.startsWith('| 1.2.4 |'));
  test.each([
    ['a missing requirement', page.replace(`${row}\n`, ''), ['1.2.4 is missing']],
    ['a second row', page.replace(row, `${row}\n${row}`), ['1.2.4 has two rows']],
    [
      'a status',
      page.replace(row, row.replace('| met |', '| done |')),
      ['1.2.4 has the unknown status "done"'],
    ],
    [
      'a number that ASVS does not have',
      page.replace(row, row.replace('1.2.4', '1.2.4, 1.9.9')),
      ['1.9.9 is no requirement'],
    ],
    [
      'a row without tests',
      page.replace(row, '| 1.2.4 | met | Statements have parameters |  |'),
      ['1.2.4 names no test'],
    ],
    [
      'a file that does not exist',
      page.replace(row, '| 1.2.4 | met | Parameters | [sql](../apps/crm/src/sql.test.ts) |'),
      ['apps/crm/src/sql.test.ts does not exist'],
    ],
    [
      'a file that is not a test',
      page.replace(row, '| 1.2.4 | met | Parameters | [app](../apps/crm/src/app.ts) |'),
      ['apps/crm/src/app.ts is not a test'],
    ],
  ])('%s', (_, changed, faults) => {
    expect(faultsOf(changed)).toEqual(faults);
  });
});
