import type { Random } from './random.ts';
import type { RecordContext, RecordKind } from './records.ts';

const DAY_MS = 86_400_000;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const statuses = ['todo', 'in_progress', 'review', 'done', 'done', 'done'] as const;
const priorities = ['low', 'normal', 'normal', 'normal', 'high', 'urgent'];

/** The number of tasks of each tenant so far. */
const counts = new WeakMap<RecordContext, number>();

/** The next rank of a tenant, behind all others: a key of fractional-indexing, an integer of five digits. */
const nextRank = (context: RecordContext): string => {
  const count = counts.get(context) ?? 0;
  counts.set(context, count + 1);
  let rank = '';
  for (let rest = count, digit = 0; digit < 5; digit += 1) {
    rank = `${DIGITS[rest % DIGITS.length]}${rank}`;
    rest = Math.floor(rest / DIGITS.length);
  }
  return `e${rank}`;
};

/** Up to two of the tenant's users. */
const assignees = (random: Random, users: readonly string[]): string[] => {
  if (users.length === 0) return [];
  const chosen = [0.8, 0.2].flatMap((share) => (random.chance(share) ? [random.pick(users)] : []));
  return [...new Set(chosen)];
};

const oneOf = (random: Random, ids: readonly string[], probability: number): string | null =>
  ids.length > 0 && random.chance(probability) ? random.pick(ids) : null;

/** Tasks, most of them in a project and due within three months after they were created. */
export const tasks: RecordKind = {
  table: 'tasks',
  row(random, context, created) {
    const { language, users, companies, contacts, projects } = context;
    const { faker } = random.somebody(language);
    const status = random.pick(statuses);
    const creator = oneOf(random, users, 0.98);
    const due = new Date(created.getTime() + random.next() * 90 * DAY_MS);
    return {
      project_id: oneOf(random, projects, 0.9),
      title: faker.lorem.sentence({ min: 2, max: 7 }),
      description: random.chance(0.5) ? faker.lorem.sentences({ min: 1, max: 3 }) : null,
      status,
      priority: random.pick(priorities),
      due_date: random.chance(0.7) ? due.toISOString().slice(0, 10) : null,
      assignee_ids: assignees(random, users),
      contact_id: oneOf(random, contacts, 0.3),
      company_id: oneOf(random, companies, 0.3),
      creator_id: creator,
      creator_client_id: creator === null ? 'import' : null,
      completed_at: status === 'done' ? created : null,
      rank: nextRank(context),
    };
  },
};
