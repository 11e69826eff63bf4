import { isReturnAddress } from './pages.ts';

const issuer = 'https://identity.test';

test('a page sends the browser back to an authorization of this issuer', () => {
  expect(isReturnAddress(issuer, `${issuer}/oauth/authorize?client_id=a&state=b`)).toBe(true);
});

test.each([
  'https://evil.test/oauth/authorize?x',
  'https://identity.test.evil.test/oauth/authorize?x',
  'https://identity.test@evil.test/oauth/authorize?x',
  '//evil.test/oauth/authorize?x',
  '/oauth/authorize?x',
  'https://identity.test/oauth/authorize/../../evil?x',
  'https://identity.test/api/auth/logout',
  'javascript:alert(1)',
  '',
])('and never to %s', (address) => {
  expect(isReturnAddress(issuer, address)).toBe(false);
});
