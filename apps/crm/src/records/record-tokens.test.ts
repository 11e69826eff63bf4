import { randomUUID } from 'node:crypto';
import { otherSpelling } from '../testing/tokens.ts';
import { newSecret, tokenFormat } from './record-tokens.ts';

const format = tokenFormat('tst');

test('A token is read as it was written', () => {
  const token = { tenantId: randomUUID(), id: randomUUID(), secret: newSecret() };
  expect(format.read(format.write(token))).toEqual(token);
});

test('Ids in a token have one spelling', () => {
  const written = format.write({ tenantId: randomUUID(), id: randomUUID(), secret: newSecret() });
  const [tenant, id, secret] = [written.slice(4, 26), written.slice(27, 49), written.slice(-43)];
  const respelled = [
    `tst_${otherSpelling(tenant)}_${id}_${secret}`,
    `tst_${tenant}_${otherSpelling(id)}_${secret}`,
  ];
  expect(respelled.map((token) => format.read(token))).toEqual([undefined, undefined]);
});
