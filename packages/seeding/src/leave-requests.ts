import type { Random } from './random.ts';
import type { RecordContext, RecordKind } from './records.ts';

const DAY_MS = 86_400_000;
const kinds = ['vacation', 'vacation', 'vacation', 'sick', 'unpaid', 'other'];
const reasons = ['Family', 'Moving house', 'Summer holiday', 'Medical appointment', 'Wedding'];

/** The last day of each user's approved leaves, by tenant: approved leaves of a user do not overlap. */
const awayUntil = new WeakMap<RecordContext, Map<string, number>>();

/** Whether a user of the tenant is not away on that day; then they are away until the last day. */
const isFree = (context: RecordContext, user: string, first: number, last: number): boolean => {
  const until = awayUntil.get(context) ?? new Map<string, number>();
  awayUntil.set(context, until);
  if ((until.get(user) ?? 0) >= first) return false;
  until.set(user, last);
  return true;
};

const isWorkingDay = (day: number): boolean => ![0, 6].includes(new Date(day).getUTCDay());

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const statusOf = (random: Random): string => {
  const chance = random.next();
  if (chance < 0.8) return 'approved';
  return chance < 0.9 ? 'rejected' : 'cancelled';
};

/** Leaves of one to fourteen days that begin within two months after they were requested. */
export const leaveRequests: RecordKind = {
  table: 'leave_requests',
  row(random, context, created) {
    const { users } = context;
    const user = users.length > 0 ? random.pick(users) : random.uuid(created);
    const requested = Math.floor(created.getTime() / DAY_MS) * DAY_MS;
    const first = requested + Math.ceil(random.next() * 60) * DAY_MS;
    const length = Math.ceil(random.next() * 14);
    const last = first + (length - 1) * DAY_MS;
    const days = Array.from({ length }, (_, day) => first + day * DAY_MS);
    const isHalf = isWorkingDay(first) && random.chance(0.1);
    const decided = random.chance(0.9) ? statusOf(random) : 'pending';
    const status =
      decided === 'approved' && !isFree(context, user, first, last) ? 'rejected' : decided;
    const isReviewed = status === 'approved' || status === 'rejected';
    const reviewer = users.slice(0, 2).find((id) => id !== user) ?? random.uuid(created);
    return {
      user_id: user,
      kind: random.pick(kinds),
      status,
      first_day: dayOf(first),
      last_day: dayOf(last),
      is_first_day_half: isHalf,
      is_last_day_half: false,
      working_days: days.filter(isWorkingDay).length - (isHalf ? 0.5 : 0),
      reason: random.chance(0.5) ? random.pick(reasons) : null,
      reviewed_by: isReviewed ? reviewer : null,
      reviewed_at: isReviewed ? created : null,
      review_comment: null,
    };
  },
};
