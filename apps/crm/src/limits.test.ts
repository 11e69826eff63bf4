import { readFileSync } from 'node:fs';
import { MAX_TAGS_OF_KIND } from './features/tags/tag-limit.ts';
import { startCrm } from './testing/crm.ts';
import { declaredKinds } from './testing/declared-kinds.ts';

const guide = readFileSync(new URL('../../../docs/crm-api.md', import.meta.url), 'utf8');
const [, section = ''] = /\n## Limits\n(.*?)\n## /s.exec(guide) ?? [];
/** What the guide says by the names in code font. */
const documented = new Map(
  [...section.matchAll(/^\| `([a-z_]+)`[^|]*\|[^|]*\| ([\d,]+) \|/gm)].map(
    ([, name = '', number = '']) => [name, Number(number.replaceAll(',', ''))],
  ),
);

test('The guide has the maximum of each kind of record', async () => {
  const kinds = await declaredKinds();
  const maxima = new Map(
    kinds.flatMap(({ table, maximum }) => (maximum === undefined ? [] : [[table, maximum]])),
  );
  expect(maxima.size).toBeGreaterThan(10);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(maxima));
});

test('The guide and the database have the same limit of different tags', async () => {
  const crm = await startCrm();
  const { rows } = await crm.context.pool.query(
    `SELECT substring(prosrc FROM 'maximum CONSTANT int := (\\d+)')::int AS maximum
     FROM pg_proc WHERE oid = 'tenant_crm.admit_tag'::regproc`,
  );
  await crm.stop();
  expect(rows).toEqual([{ maximum: MAX_TAGS_OF_KIND }]);
  expect(section).toContain(`| ${MAX_TAGS_OF_KIND.toLocaleString('en')} |`);
});
