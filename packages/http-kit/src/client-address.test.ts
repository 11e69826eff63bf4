import express from 'express';
import request from 'supertest';
import { addressScopeOf, clientAddress, networkOf, normalisedAddress } from './client-address.ts';
import { appOf, things } from './testing/things.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:5678', '203.0.113.7'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['[::ffff:cb00:7107]:80', '203.0.113.7'],
])('the address %s is %s', (given, address) => {
  expect(normalisedAddress(given)).toBe(address);
});

test.each(['', 'unknown', '_hidden', '203.0.113', '0177.0.0.1', '999.1.1.1', 'a'.repeat(10_000)])(
  '"%.20s" is no address',
  (given) => {
    expect(normalisedAddress(given)).toBeUndefined();
  },
);

test.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:1ff::7', '2001:db8:1:100::/56'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

const echoing = (trustedProxies: number) =>
  express()
    .set('trust proxy', trustedProxies)
    .get('/', (req, res) => void res.json(clientAddress(req)));

const seen = async (trustedProxies: number, forwarded: string): Promise<string> => {
  const answer = await request(echoing(trustedProxies)).get('/').set('x-forwarded-for', forwarded);
  return answer.body;
};

test('if a proxy forwards no address, the address of the proxy is used', async () => {
  expect(await seen(2, 'junk, 198.51.100.9')).toBe('198.51.100.9');
  expect(await seen(1, '203.0.113.1, junk')).toBe('127.0.0.1');
  expect(await seen(0, '203.0.113.1')).toBe('127.0.0.1');
});

test('ports, invalid text and other addresses of an IPv6 network do not give a client a new limit', async () => {
  const of = () => {
    const app = appOf({ Things: things }, { address: 1 }).set('trust proxy', 1);
    return (forwarded: string) => request(app).get('/things').set('x-forwarded-for', forwarded);
  };
  for (const [first, second] of [
    ['203.0.113.7:1000', '203.0.113.7:1001'],
    ['[2001:db8::1]:1000', '2001:db8::2'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['junk-1', 'junk-2'],
  ] as const) {
    const from = of();
    await from(first).expect(401);
    await from(second).expect(429);
  }
});

test.each([
  ['127.0.0.1', 'computer'],
  ['::1', 'computer'],
  ['10.0.0.1', 'private_network'],
  ['172.16.5.4', 'private_network'],
  ['192.168.0.9', 'private_network'],
  ['169.254.1.1', 'private_network'],
  ['fd12:3456::1', 'private_network'],
  ['fe80::1', 'private_network'],
  ['203.0.113.7', 'internet'],
  ['2001:4860::8888', 'internet'],
])('%s is reached in: %s', (address, reach) => {
  expect(addressScopeOf(address)).toBe(reach);
});
