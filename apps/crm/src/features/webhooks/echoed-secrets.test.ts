import { patternOf, withoutSecrets } from './echoed-secrets.ts';

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

test('The time to find a secret grows with the length of the text only: no part of the pattern is unlimited', () => {
  const operators = patternOf('/+=').source.replace(/\\./g, '');
  expect(operators).not.toMatch(/[*+]|,\}/);
});

test('A secret is found after a long run of backslashes', () => {
  const run = '\\'.repeat(16_000);
  const seven = '\\'.repeat(7);
  expect(withoutSecrets(`${run}/${run}${SENT}`, ['/', SENT])).toBe(
    `${run.slice(7)}[removed]${run}abc[removed]def+ghi==`,
  );
  expect(withoutSecrets(`abc${seven}/def${seven}u002Bghi==`, [SENT])).toBe('[removed]');
});
