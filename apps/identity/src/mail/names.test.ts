import { inertName } from './names.ts';

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

  test('is one line of limited length', () => {
    expect(inertName('a\nb\u0000c')).toBe('a b c');
    const name = inertName('x'.repeat(200));
    expect([...name]).toHaveLength(80);
    expect(name.endsWith('…')).toBe(true);
  });
});
