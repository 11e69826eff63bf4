import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { newestOfKind } from './own-activity.ts';

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}

const scansIn = (plan: Plan): Plan[] => [
  ...(plan['Index Name'] === undefined ? [] : [plan]),
  ...(plan.Plans ?? []).flatMap(scansIn),
];

describe('the entries of a category in a log of 100,000', () => {
  test('are found by reading at most a page per action, however rare or common they are', async () => {
    const { pool } = identity.context;
    const { id: userId } = await identity.people.user();
    await pool.query(
      `INSERT INTO identity.activity_entries (id, user_id, action, created_at)
       SELECT gen_random_uuid(), $1::uuid, CASE WHEN n % 5000 = 0 THEN 'pin_set' ELSE 'login' END,
         now() - n * interval '1 minute' FROM generate_series(1, 100000) n`,
      [userId],
    );
    // The planner must see many users, as in a production database.
    await pool.query('ALTER TABLE identity.activity_entries ALTER COLUMN user_id SET STATISTICS 0');
    await pool.query('VACUUM ANALYZE identity.activity_entries');
    for (const kind of ['sign_in', 'security', 'app'] as const) {
      const { text, values } = newestOfKind({
        userId,
        kind,
        from: undefined,
        to: undefined,
        skip: 20,
        take: 20,
      });
      const { rows } = await pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      const scans = scansIn(rows[0]['QUERY PLAN'][0].Plan);
      expect(scans.map((scan) => scan['Index Name'])).toEqual([
        'activity_entries_user_id_action_created_at_id_idx',
      ]);
      const read = scans.map((scan) => scan['Actual Rows'] * scan['Actual Loops']);
      expect(Math.max(...read)).toBeLessThanOrEqual(40 * 30);
    }
  });
});
