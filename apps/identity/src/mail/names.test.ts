import { inertName, withInertNames } from './names.ts';

describe('a name in a mail', () => {
  test.each([
    'https://evil.example/login',
    'Click evil.example now',
    'mailto:eve@evil.example',
    'www.evil.example',
  ])('is not turned into a link: %s', (name) => {
    expect(inertName(name)).not.toMatch(/[.:/@]\p{L}/u);
    expect(inertName(name).replaceAll('\u2060', '')).toBe(name);
  });

  test.each(['Acme <Rocket> & Co.', 'Kovács és Társa Kft.', "O'Brien", '株式会社'])(
    'is written as it is: %s',
    (name) => expect(inertName(name)).toBe(name),
  );

  test.each([
    ['an override of the direction', 'Anna \u202etset.live\u202c'],
    ['an isolate', '\u2066Anna\u2069'],
    ['marks of direction', '\u200eAn\u200fna\u061c'],
    ['spaces of no width', 'An\u200bna\ufeff'],
    ['joiners', 'An\u200d\u200c\u2060na'],
    ['a soft hyphen', 'An\u00adna'],
    ['a blank letter', '\u3164Anna'],
    ['tags', 'Anna\u{e0041}\u{e007f}'],
    ['annotations', '\ufff9Anna\ufffb'],
  ])('loses %s', (_, name) => {
    expect(inertName(name)).toMatch(/^Anna( tset\.\u2060live)?$/);
  });

  test('keeps the letters and the emoji of every script', () => {
    for (const name of ['עדה לאבלייס', 'آدا', 'हिन्दी', 'नाम', '渡邉\u{e0100}', '❤\ufe0f', '👍🏽']) {
      expect(inertName(name)).toBe(name);
    }
  });

  test('is one line of limited length', () => {
    expect(inertName('a\nb\u0000c')).toBe('a b c');
    const name = inertName('x'.repeat(200));
    expect([...name]).toHaveLength(80);
    expect(name.endsWith('…')).toBe(true);
  });
});

test('The data of a mail has safe names wherever they are, and no invisible characters', () => {
  const at = new Date();
  const seen = { device: { browser: 'evil.example', os: 'Lin\u202eux' }, ipAddress: null, at };
  expect(
    withInertNames({
      tenants: ['A\u200bcme', 'evil.example'],
      newEmail: 'a\u202eb@example.test',
      seen,
    }),
  ).toEqual({
    tenants: ['Acme', 'evil.\u2060example'],
    newEmail: 'ab@example.test',
    seen: { device: { browser: 'evil.\u2060example', os: 'Linux' }, ipAddress: null, at },
  });
});
