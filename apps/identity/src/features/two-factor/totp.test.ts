import { createTotp } from './totp.ts';

/** Of RFC 6238, appendix B, in SHA-1; the last six of eight digits. */
const secret = Buffer.from('12345678901234567890');

test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('the code of second %d is %s', (second, code) => {
  const totp = createTotp('Tessera', () => second * 1000);
  expect(totp.stepOf(secret, code)).toBe(BigInt(Math.floor(second / 30)));
  expect(totp.stepOf(secret, code === '000000' ? '000001' : '000000')).toBeNull();
});

test('the otpauth URI contains issuer, account and secret', () => {
  const totp = createTotp('Example & Sons');
  const uri = new URL(totp.uri(secret, 'ada@example.com'));
  expect(uri.protocol + uri.host).toBe('otpauth:totp');
  expect(decodeURIComponent(uri.pathname)).toBe('/Example & Sons:ada@example.com');
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    issuer: 'Example & Sons',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
  expect(totp.text(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
});
