import fc from 'fast-check';
import {
  type Change,
  covers,
  decide,
  firstGrantBeyond,
  grantsBeyond,
  type Policy,
  type Rights,
} from './index.ts';

const rights = (...actions: string[]): Rights => ({
  policies: actions.map((action) =>
    action.startsWith('!')
      ? { action: action.slice(1), effect: 'deny' }
      : { action, effect: 'allow' },
  ),
});
const none = rights();

const pattern = fc
  .array(fc.constantFrom('a', 'b', '*'), { minLength: 1, maxLength: 3 })
  .map((segments) => segments.join('.'));
const policy: fc.Arbitrary<Policy> = fc.record({
  action: pattern,
  effect: fc.constantFrom('allow', 'allow', 'deny'),
});
const anyRights: fc.Arbitrary<Rights> = fc.record({
  policies: fc.array(policy, { maxLength: 6 }),
  scopes: fc.option(fc.array(pattern, { maxLength: 3 }), { nil: undefined, freq: 3 }),
});

const allows = ({ policies, scopes }: Rights, permission: string): boolean =>
  decide(policies, permission).allowed && (scopes?.some((s) => covers(s, permission)) ?? true);

describe('grantsBeyond', () => {
  test('allows granting what the holder holds', () => {
    const holder = rights('tenant.*.crm.*.*');
    const after = rights('tenant.acme.crm.tasks.view', 'tenant.*.crm.*.list');
    expect(grantsBeyond({ holder, before: none, after })).toEqual([]);
  });

  test('names the additional permissions, without those held before the change', () => {
    const holder = rights('identity.members.list');
    const before = rights('identity.users.list');
    const after = rights('identity.users.list', 'identity.members.list', 'identity.roles.update');
    expect(grantsBeyond({ holder, before, after })).toEqual(['identity.roles.update']);
  });

  test('counts a removed deny as a grant', () => {
    const holder = rights('a.*', '!a.secret');
    expect(
      grantsBeyond({ holder, before: rights('a.*', '!a.secret'), after: rights('a.*') }),
    ).toEqual(['a.secret']);
  });

  test('does not treat holding every current permission as holding future ones', () => {
    const holder = rights('identity.users.list', 'identity.users.view');
    expect(grantsBeyond({ holder, before: none, after: rights('identity.users.*') })).toEqual([
      'identity.users.*',
    ]);
    expect(grantsBeyond({ holder: rights('*.*.*'), before: none, after: rights('*') })).toContain(
      '*.*.*.*',
    );
  });

  test('finds a permission whose segments come from two rules', () => {
    const holder = rights('identity.*.suspend', '!identity.users.*');
    const after = rights('identity.*.suspend');
    expect(grantsBeyond({ holder, before: none, after })).toEqual(['identity.users.suspend']);
  });

  test('respects scopes on both sides', () => {
    const policies = rights('*').policies;
    const after = { policies, scopes: ['a.*'] };
    expect(grantsBeyond({ holder: rights('a.*'), before: none, after })).toEqual([]);
    expect(grantsBeyond({ holder: { policies, scopes: ['a.b'] }, before: none, after })).toEqual([
      'a.*',
    ]);
    expect(grantsBeyond({ holder: { policies, scopes: [] }, before: none, after })).not.toEqual([]);
  });

  test('ignores a pattern that does not parse', () => {
    expect(grantsBeyond({ holder: none, before: none, after: rights('a..b', 'ta*') })).toEqual([]);
  });

  test("allows granting the holder's own rights, passed as the same object", () => {
    const own = rights('*', '!a.b');
    expect(grantsBeyond({ holder: own, before: own, after: own })).toEqual([]);
    expect(grantsBeyond({ holder: own, before: none, after: own })).toEqual([]);
  });

  test('agrees with a search of every permission, including those that no pattern names', () => {
    const words = ['a', 'b', 'new'];
    const longer = (shorter: string[]): string[] =>
      shorter.flatMap((p) => words.map((w) => `${p}.${w}`));
    const universe = [words, longer(words), longer(longer(words)), longer(longer(longer(words)))];
    fc.assert(
      fc.property(anyRights, anyRights, anyRights, (holder, before, after) => {
        const isRaise = (p: string): boolean =>
          allows(after, p) && !allows(before, p) && !allows(holder, p);
        const found = grantsBeyond({ holder, before, after });
        for (const p of universe.flat().filter(isRaise)) {
          expect(found.some((f) => covers(f, p))).toBe(true);
        }
        for (const f of found) expect([f, isRaise(f.replaceAll('*', 'new'))]).toEqual([f, true]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('firstGrantBeyond', () => {
  const UNLIMITED = 100_000_000;
  const naming = (many: number, text: string): string[] =>
    Array.from({ length: many }, (_, i) => text.replace('_', `s${i}`));
  /** How many rules a comparison looks at. */
  const workOf = (change: Change): number => {
    const effort = { left: UNLIMITED };
    firstGrantBeyond(change, effort);
    return UNLIMITED - effort.left;
  };
  const crossing = rights(
    ...naming(50, '_.*.*.*.*'),
    ...naming(50, '*._.*.*.*'),
    ...naming(50, '*.*.*._.*'),
    ...naming(50, '*.*.*.*._'),
  );

  test('finds the first permission of grantsBeyond', () => {
    fc.assert(
      fc.property(anyRights, anyRights, anyRights, (holder, before, after) => {
        const change = { holder, before, after };
        const [first] = grantsBeyond(change);
        expect(firstGrantBeyond(change, { left: UNLIMITED })).toBe(first);
      }),
    );
  });

  test('stops there', () => {
    const after = rights(...naming(200, 'tenant._.crm.tasks.view'));
    const change = { holder: none, before: none, after };
    expect(grantsBeyond(change)).toHaveLength(200);
    expect(workOf(change)).toBeLessThan(5000);
  });

  test.each([
    ['the same', crossing, 200_000],
    ['everything', rights('*'), 2000],
  ])('looks at few rules if the holder has %s', (_case, holder, most) => {
    const change = { holder, before: none, after: crossing };
    expect(firstGrantBeyond(change, { left: most })).toBeUndefined();
  });

  test('does not try what only the holder is allowed, or only the change denies', () => {
    const names = naming(200, 'tenant._.crm.*.view');
    const plain = rights('tenant.*.crm.*.*');
    const after = rights('tenant.*.crm.*.list', ...names.map((name) => `!${name}`));
    const holder = rights('tenant.*.crm.tasks.*', 'tenant.*.crm.*.list', ...names);
    const change = { holder, before: none, after };
    expect(firstGrantBeyond(change, { left: UNLIMITED })).toBeUndefined();
    expect(workOf(change)).toBeLessThan(20_000);
    expect(workOf({ holder: plain, before: none, after })).toBeLessThan(20_000);
  });

  test('gives up when its effort is used up, and refuses', () => {
    const effort = { left: 5000 };
    const change = { holder: crossing, before: none, after: crossing };
    expect(firstGrantBeyond(change, effort)).toMatch(/\*$/);
    expect(effort.left).toBeLessThan(0);
    expect(effort.left).toBeGreaterThan(-1000);
  });

  test('allows no more with a limited effort', () => {
    fc.assert(
      fc.property(anyRights, anyRights, anyRights, fc.nat(100), (holder, before, after, left) => {
        const change = { holder, before, after };
        fc.pre(firstGrantBeyond(change, { left }) === undefined);
        expect(grantsBeyond(change)).toEqual([]);
      }),
    );
  });
});
