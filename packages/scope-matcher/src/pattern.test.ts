import fc from 'fast-check';
import { covers, coversPattern, parsePattern } from './index.ts';

const literal = fc.constantFrom('a', 'b', 'ab', 'a-b', 'a_b', 'A', '0');
const permission = fc.array(literal, { minLength: 1, maxLength: 5 }).map((s) => s.join('.'));
const segment = fc.oneof(literal, fc.constant('*'));
const pattern = fc.array(segment, { minLength: 1, maxLength: 5 }).map((s) => s.join('.'));
const nearlyPattern = fc.string({
  unit: fc.constantFrom('a', 'b', '*', '.', ' ', '{'),
  maxLength: 8,
});

/** The grammar of decision B7, as it is specified. */
const naivelyCovers = (of: string, what: string): boolean => {
  const isWhole = (text: string, allowed: RegExp): boolean =>
    text.split('.').every((s) => allowed.test(s));
  if (!isWhole(of, /^(\*|[A-Za-z0-9_-]+)$/) || !isWhole(what, /^[A-Za-z0-9_-]+$/)) return false;
  if (of === '*') return true;
  const [wanted, given] = [of.split('.'), what.split('.')];
  return wanted.length === given.length && wanted.every((s, i) => s === '*' || s === given[i]);
};

describe('covers', () => {
  test.each([
    ['identity.users.list', 'identity.users.list', true],
    ['identity.users.list', 'identity.users.view', false],
    ['*', 'identity.users.list', true],
    ['*', 'a', true],
    ['identity.*', 'identity.users', true],
    ['identity.*', 'identity.users.list', false],
    ['*.*', 'identity.users.list', false],
    ['tenant.*.crm.tasks.*', 'tenant.acme.crm.tasks.view', true],
    ['tenant.*.crm.tasks.*', 'tenant.acme.crm.tasks.view.own', false],
    ['tenant.*.crm.tasks.*', 'tenant.acme.crm.tasks', false],
    ['tenant.acme.crm.tasks.*', 'tenant.acme-eu.crm.tasks.view', false],
    ['identity.us*.list', 'identity.users.list', false],
    ['identity.**', 'identity.users', false],
    ['identity..list', 'identity..list', false],
    ['identity.users.', 'identity.users', false],
    ['', '', false],
    ['*', '', false],
    ['*', 'identity..list', false],
    ['identity.users.*', 'identity.users.*', false],
    ['Identity.users.list', 'identity.users.list', false],
  ])('%j and %j: %s', (of, what, expected) => {
    expect(covers(of, what)).toBe(expected);
  });

  test('agrees with the specified grammar on valid and almost valid patterns', () => {
    fc.assert(
      fc.property(
        fc.oneof(pattern, nearlyPattern),
        fc.oneof(permission, nearlyPattern),
        (of, what) => expect(covers(of, what)).toBe(naivelyCovers(of, what)),
      ),
      { numRuns: 3000 },
    );
  });

  test('covers every permission whose segments were replaced by *', () => {
    fc.assert(
      fc.property(permission, fc.infiniteStream(fc.boolean()), (what, stars) => {
        const of = what.split('.').map((s) => (stars.next().value ? '*' : s));
        expect(covers(of.join('.'), what)).toBe(true);
      }),
    );
  });

  test('accepts any text without throwing', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (of, what) => typeof covers(of, what) === 'boolean'),
    );
  });

  test('an invalid pattern covers nothing', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyPattern, fc.string()), permission, (of, what) => {
        fc.pre(!parsePattern(of).ok);
        expect(covers(of, what)).toBe(false);
      }),
    );
  });
});

describe('parsePattern', () => {
  test('gives the segments', () => {
    expect(parsePattern('tenant.*.crm.tasks.*')).toEqual({
      ok: true,
      segments: ['tenant', '*', 'crm', 'tasks', '*'],
    });
  });

  test.each([
    ['', 'the pattern is empty'],
    ['.', 'segment 1 is empty'],
    ['a..b', 'segment 2 is empty'],
    ['a.b.', 'segment 3 is empty'],
    ['a.ta*', 'segment 2 ("ta*") mixes * with other characters: * stands for one whole segment'],
    ['**', 'segment 1 ("**") mixes * with other characters: * stands for one whole segment'],
    ['a b.c', 'segment 1 ("a b") may contain only letters, digits, _ and -'],
    ['a.é', 'segment 2 ("é") may contain only letters, digits, _ and -'],
    ['a.b\n', 'segment 2 ("b\\n") may contain only letters, digits, _ and -'],
    ['tenant.{slug}', 'segment 2 ("{slug}") may contain only letters, digits, _ and -'],
  ])('rejects %j with a reason', (text, reason) => {
    expect(parsePattern(text)).toEqual({ ok: false, reason });
  });

  test('the segments, joined again, are the text', () => {
    fc.assert(
      fc.property(fc.oneof(pattern, fc.string()), (text) => {
        const parsed = parsePattern(text);
        return !parsed.ok || parsed.segments.join('.') === text;
      }),
    );
  });
});

describe('coversPattern', () => {
  test.each([
    ['*', 'identity.tenants.list'],
    ['*', 'identity.*'],
    ['identity.tenants.*', 'identity.tenants.list'],
    ['identity.tenants.*', 'identity.tenants.*'],
    ['tenant.*.crm.*.list', 'tenant.acme.crm.*.list'],
    ['identity.*.*', 'identity.tenants.*'],
  ])('%s covers %s', (pattern, other) => {
    expect(coversPattern(pattern, other)).toBe(true);
  });

  test.each([
    ['identity.tenants.list', 'identity.tenants.*'],
    ['identity.tenants.*', 'identity.tenants'],
    ['identity.tenants.*', 'identity.tenants.versions.update'],
    ['identity.*', '*'],
    ['tenant.acme.crm.contacts.list', 'tenant.*.crm.contacts.list'],
  ])('%s does not cover %s', (pattern, other) => {
    expect(coversPattern(pattern, other)).toBe(false);
  });
});
