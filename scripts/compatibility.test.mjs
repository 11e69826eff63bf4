import { eventsAsOpenApi, faults } from './compatibility.mjs';

const removed = { document: 'a.json', change: 'removed (x)', operations: ['GET /a', 'GET /b'] };

test('A break is a fault at each operation, unless it is accepted there with a reason', () => {
  expect(faults([removed], [])).toEqual([
    'a.json: GET /a: removed (x)',
    'a.json: GET /b: removed (x)',
  ]);
  const forOne = { ...removed, operations: ['GET /a'], reason: 'Nobody used it.' };
  expect(faults([removed], [forOne])).toEqual(['a.json: GET /b: removed (x)']);
  expect(faults([removed], [{ ...removed, reason: ' ' }])).toEqual([
    'accepted.json gives no reason for: removed (x)',
  ]);
  expect(faults([removed], [{ ...removed, reason: 'Nobody used it.' }])).toEqual([]);
});

test('An accepted break that does not exist is a fault', () => {
  expect(faults([], [{ ...removed, operations: ['GET /a'], reason: 'Once.' }])).toEqual([
    'accepted.json lists a change that does not exist: a.json: GET /a: removed (x)',
  ]);
});

test('Received events are refused, because their breaks would be other ones', () => {
  const document = { operations: { a: { action: 'receive' } }, channels: {} };
  expect(() => eventsAsOpenApi(document)).toThrow('Only sent events can be compared.');
});
