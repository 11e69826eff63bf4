import { withoutSecrets } from './echoed-secrets.ts';

const SECRET = 'Ovm/gCaY+IDy==';

test.each([
  ['plain', SECRET],
  ['with escaped slashes', SECRET.replaceAll('/', '\\/')],
  ['in JSON within JSON', SECRET.replaceAll('/', '\\\\/')],
  ['with Unicode escapes', 'Ovm\\u002FgCaY\\u002bIDy\\u003D\\u003d'],
  ['with Unicode escapes within JSON', 'Ovm\\\\u002fgCaY\\\\u002BIDy\\\\u003d='],
])('A secret is removed %s', (_name, echoed) => {
  expect(withoutSecrets(`{"key":"${echoed}","and":"${echoed}"}`, ['other', SECRET])).toBe(
    '{"key":"[removed]","and":"[removed]"}',
  );
});

test('What only resembles a secret is kept', () => {
  const text = 'Ovm/gCaY IDy== Ovm-gCaY+IDy==';
  expect(withoutSecrets(text, [SECRET])).toBe(text);
});
