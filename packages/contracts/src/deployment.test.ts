import { createRequire } from 'node:module';
import { validate } from '@tessera/fields';
import { Deployment } from './deployment.ts';

const { schemas } = createRequire(import.meta.url)('../deployment-automation.openapi.json')
  .components as { schemas: Record<string, { properties: Record<string, Declared> }> };

interface Declared {
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly maxItems?: number;
}

const declared = (schema: string, property: string): Declared =>
  schemas[schema]?.properties[property] ?? {};

const longest = (schema: string, property: string, beginning = ''): string =>
  beginning.padEnd(declared(schema, property).maxLength ?? Number.NaN, 'x');

const deployment = {
  tenant_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  state: 'active',
  prUrl: longest('Deployment', 'prUrl', 'https://git.example.com/'),
  pr_url: longest('Deployment', 'pr_url', 'http://git.example.com/'),
};

const step = { name: longest('Step', 'name'), message: longest('Step', 'message') };

test.each(declared('Deployment', 'state').enum ?? [])(
  'accepts the longest response that the contract of deployment automation allows: %s',
  (state) => {
    const steps = (declared('Step', 'state').enum ?? []).map((of) => ({ ...step, state: of }));
    const most = declared('Deployment', 'steps').maxItems ?? Number.NaN;
    const all = Array.from({ length: most }, (_none, n) => steps[n % steps.length]);
    const answer = { ...deployment, state, steps: all, added_later: 1 };
    expect(validate(Deployment, answer)).toMatchObject({ ok: true });
    expect(all).toHaveLength(100);
  },
);

test('requires the members that identity needs, and no others', () => {
  const { tenant_id, state } = deployment;
  expect(validate(Deployment, { tenant_id, state }).ok).toBe(true);
  expect(validate(Deployment, { tenant_id }).ok).toBe(false);
  expect(validate(Deployment, { state }).ok).toBe(false);
});
