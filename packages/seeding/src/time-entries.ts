import type { RecordContext, RecordKind } from './records.ts';

const MINUTE_MS = 60_000;

/** The end of each user's last entry, by tenant: the entries of a user do not overlap. */
const ends = new WeakMap<RecordContext, Map<string, number>>();

/** Stopped entries, most of them in a project. They begin when they are created, or when the last one ended. */
export const timeEntries: RecordKind = {
  table: 'time_entries',
  row(random, context, created) {
    const { language, users, projects } = context;
    const { faker } = random.somebody(language);
    const user = users.length > 0 ? random.pick(users) : random.uuid(created);
    const endOf = ends.get(context) ?? new Map<string, number>();
    ends.set(context, endOf);
    const former = endOf.get(user) ?? 0;
    const isLate = former > created.getTime();
    const start = isLate ? former : created.getTime();
    // A user with many entries has short ones, so that none begins long after it was created.
    const minutes = isLate ? 1 : 5 * Math.ceil(random.next() * 24);
    const end = start + minutes * MINUTE_MS;
    endOf.set(user, end);
    return {
      user_id: user,
      project_id: projects.length > 0 && random.chance(0.9) ? random.pick(projects) : null,
      started_at: new Date(start),
      ended_at: new Date(end),
      billable: random.chance(0.6),
      note: random.chance(0.4) ? faker.lorem.sentence({ min: 2, max: 8 }) : null,
    };
  },
};
