import type { RecordContext, RecordKind } from './records.ts';

const DAY_MS = 86_400_000;
const statuses = ['planned', 'active', 'active', 'on_hold', 'completed', 'cancelled'];

/** The number of projects of each tenant so far, for their keys. */
const counts = new WeakMap<RecordContext, number>();

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Public projects of up to half a year, without an owner: an owner would have to be a member. */
export const projects: RecordKind = {
  table: 'projects',
  row(random, context, created) {
    const { language, companies } = context;
    const { faker } = random.somebody(language);
    const number = (counts.get(context) ?? 0) + 1;
    counts.set(context, number);
    const start = created.getTime() + random.next() * 30 * DAY_MS;
    return {
      name: faker.commerce.productName(),
      key: `PR${number}`,
      description: random.chance(0.5) ? faker.lorem.sentence() : null,
      status: random.pick(statuses),
      start_date: dayOf(start),
      due_date: dayOf(start + random.next() * 180 * DAY_MS),
      company_id: companies.length > 0 && random.chance(0.7) ? random.pick(companies) : null,
      is_private: false,
    };
  },
};
