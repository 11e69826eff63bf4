import { firstOccurrences, gapsIn, runWithKills, sequencesOf } from '../testing/killed-relay.ts';
import { makeOutbox, type TestOutbox } from '../testing/outbox.ts';

let outbox: TestOutbox;
beforeEach(async () => {
  outbox = await makeOutbox();
});
afterEach(() => outbox.close());

test('however often relay and broker are killed, no event is lost and those of a key keep their order', async () => {
  const { stored, acknowledged } = await runWithKills({
    outbox,
    changes: 300,
    seed: 20_261_121,
    kills: { relay: 5, broker: 2 },
  });
  const expected = sequencesOf(stored);
  // Two tenants and three users.
  expect([stored.length, Object.keys(expected).length]).toEqual([300, 5]);
  expect(firstOccurrences(sequencesOf(acknowledged))).toEqual(expected);
  expect(gapsIn(sequencesOf(acknowledged), expected)).toEqual([]);
});
