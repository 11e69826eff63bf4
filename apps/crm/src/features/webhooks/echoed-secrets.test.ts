import { withoutSecrets } from './echoed-secrets.ts';

const SENT = 'abc/def+ghi==';

test.each([
  ['plain', SENT],
  ['with escaped slashes', SENT.replaceAll('/', '\\/')],
  ['in JSON within JSON', SENT.replaceAll('/', '\\\\/')],
  ['with Unicode escapes', 'abc\\u002Fdef\\u002bghi\\u003D\\u003d'],
  ['with Unicode escapes within JSON', 'abc\\\\u002fdef\\\\u002Bghi\\\\u003d='],
])('A secret is removed %s', (_name, echoed) => {
  expect(withoutSecrets(`{"key":"${echoed}","and":"${echoed}"}`, ['other', SENT])).toBe(
    '{"key":"[removed]","and":"[removed]"}',
  );
});

test('What only resembles a secret is kept', () => {
  const text = 'abc/def ghi== abc-def+ghi==';
  expect(withoutSecrets(text, [SENT])).toBe(text);
});
