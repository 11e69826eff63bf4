import { allowedAddresses } from './addresses.ts';

const isAllowed = allowedAddresses([]);

test.each([
  ['unspecified', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['metadata of Alibaba', '100.100.100.200'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['link-local', '169.254.0.1'],
  ['metadata of most clouds', '169.254.169.254'],
  ['metadata of Oracle', '192.0.0.192'],
  ['metadata of Azure', '168.63.129.16'],
  ['documentation', '192.0.2.1'],
  ['documentation', '203.0.113.1'],
  ['benchmarking', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
  ['IPv4-mapped private, in hex', '::ffff:0a00:1'],
  ['IPv4-compatible loopback', '::127.0.0.1'],
  ['IPv4-translated', '::ffff:0:127.0.0.1'],
  ['NAT64 of loopback', '64:ff9b::7f00:1'],
  ['local NAT64', '64:ff9b:1::7f00:1'],
  ['6to4 of a private address', '2002:0a00:0001::1'],
  ['Teredo', '2001::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['site-local', 'fec0::1'],
  ['unique local', 'fc00::1'],
  ['metadata of AWS', 'fd00:ec2::254'],
  ['multicast', 'ff02::1'],
  ['no address', 'localhost'],
  ['nothing', ''],
])('Requests to a %s address are refused (%s)', (_kind, address) => {
  expect(isAllowed(address)).toBe(false);
});

test.each([
  '1.1.1.1',
  '100.63.255.255',
  '100.128.0.0',
  '172.32.0.1',
  '::ffff:1.1.1.1',
  '2606:4700::1111',
])('Requests to the public address %s are allowed', (address) => {
  expect(isAllowed(address)).toBe(true);
});

test('Allowing a network allows its addresses and no others', () => {
  const isAllowedToo = allowedAddresses(['127.0.0.1/32', 'fd00::/8']);
  expect(['127.0.0.1', '::ffff:127.0.0.1', 'fd12::1'].map(isAllowedToo)).toEqual([
    true,
    true,
    true,
  ]);
  expect(['127.0.0.2', '10.0.0.1', '::1'].map(isAllowedToo)).toEqual([false, false, false]);
  expect(() => allowedAddresses(['127.0.0.1/33'])).toThrow();
});
