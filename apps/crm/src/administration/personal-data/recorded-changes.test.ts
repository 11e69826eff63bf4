import pg from 'pg';
import { crmDatabase } from '../../testing/crm.ts';
import { publishChanges } from './recorded-changes.ts';

const SETTING = 'tessera.publishes_events';

/** The statements that an erasure sends, and the setting within and after its transaction. */
const inErasure = async (options: Parameters<typeof publishChanges>[1]) => {
  const client = new pg.Client({ connectionString: await crmDatabase() });
  await client.connect();
  const sent: string[] = [];
  const sending = {
    query: (text: string) => {
      sent.push(text);
      return client.query(text);
    },
  };
  const setting = async (): Promise<string | null> => {
    const { rows } = await client.query('SELECT current_setting($1, true) AS value', [SETTING]);
    return rows[0].value;
  };
  try {
    await client.query('BEGIN');
    await publishChanges(sending as unknown as pg.Client, options);
    const within = await setting();
    await client.query('COMMIT');
    return { sent: sent.join(), within, after: await setting() };
  } finally {
    await client.end();
  }
};

test.each([true, false])(
  'Changes become events within the transaction of an erasure, on Citus: %s',
  async (distributed) => {
    const { sent, within, after } = await inErasure({ publishesEvents: true, distributed });
    expect([within, after]).toEqual(['on', '']);
    // Citus forwards only this to the servers with the rows.
    expect(sent.includes(`SET LOCAL ${SETTING}`)).toBe(distributed);
  },
);

test('Without a broker, no changes become events', async () => {
  const { sent, within } = await inErasure({ publishesEvents: false, distributed: false });
  expect([sent, within]).toEqual(['', null]);
});
