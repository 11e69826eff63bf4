import fc from 'fast-check';
import { covers, decide, type Policy } from './index.ts';

const allow = (action: string): Policy => ({ action, effect: 'allow' });
const deny = (action: string): Policy => ({ action, effect: 'deny' });

describe('decide', () => {
  test('denies without a policy, and names no policy', () => {
    expect(decide([], 'a.b')).toEqual({ allowed: false, by: null });
    expect(decide([allow('a.c')], 'a.b')).toEqual({ allowed: false, by: null });
  });

  test('allows a permission that an allow covers, and names the allow', () => {
    expect(decide([allow('a.c'), allow('a.*')], 'a.b')).toEqual({
      allowed: true,
      by: allow('a.*'),
    });
  });

  test('denies a permission that a deny covers, at any position and however broad the allows are', () => {
    expect(decide([allow('a.b'), deny('*')], 'a.b')).toEqual({ allowed: false, by: deny('*') });
    expect(decide([deny('a.*'), allow('a.b')], 'a.b')).toEqual({ allowed: false, by: deny('a.*') });
  });

  test('ignores a deny of another permission', () => {
    expect(decide([allow('*'), deny('a.c')], 'a.b').allowed).toBe(true);
  });

  test('does not depend on the order of the policies', () => {
    const pattern = fc.constantFrom('*', 'a', 'a.*', '*.b', 'a.b', '*.*', 'a..b', 'x');
    const policy = fc.record({ action: pattern, effect: fc.constantFrom('allow', 'deny') });
    fc.assert(
      fc.property(
        fc.array(policy as fc.Arbitrary<Policy>),
        fc.constantFrom('a', 'a.b'),
        (all, p) => {
          const { allowed } = decide(all, p);
          const covering = all.filter(({ action }) => covers(action, p));
          expect(allowed).toBe(
            covering.some(({ effect }) => effect === 'allow') &&
              covering.every(({ effect }) => effect !== 'deny'),
          );
          expect(decide(all.toReversed(), p).allowed).toBe(allowed);
        },
      ),
    );
  });
});
