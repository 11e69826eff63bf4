import { countWorkingDays } from './working-days.ts';

const MONDAY_TO_FRIDAY = [1, 2, 3, 4, 5];
const SUNDAY_TO_THURSDAY = [7, 1, 2, 3, 4];

const leave = (first_day: string, last_day: string, halves: object = {}) => ({
  first_day,
  last_day,
  is_first_day_half: false,
  is_last_day_half: false,
  ...halves,
});

test.each([
  ['a Monday', leave('2026-03-02', '2026-03-02'), 1],
  ['a weekend', leave('2026-03-07', '2026-03-08'), 0],
  ['a week', leave('2026-03-02', '2026-03-08'), 5],
  ['Friday to Monday', leave('2026-03-06', '2026-03-09'), 2],
  ['a year', leave('2026-01-01', '2026-12-31'), 261],
  ['a leap day', leave('2028-02-28', '2028-03-01'), 3],
  ['the afternoon of a day', leave('2026-03-02', '2026-03-02', { is_first_day_half: true }), 0.5],
  ['the morning of a day', leave('2026-03-02', '2026-03-02', { is_last_day_half: true }), 0.5],
  [
    'noon to noon',
    leave('2026-03-02', '2026-03-03', { is_first_day_half: true, is_last_day_half: true }),
    1,
  ],
  ['half a Saturday', leave('2026-03-07', '2026-03-09', { is_first_day_half: true }), 1],
])('%s', (_, days, count) => {
  expect(countWorkingDays(days, MONDAY_TO_FRIDAY)).toBe(count);
});

test('The working week of the tenant determines the working days', () => {
  expect(countWorkingDays(leave('2026-03-06', '2026-03-08'), SUNDAY_TO_THURSDAY)).toBe(1);
  expect(countWorkingDays(leave('2026-03-02', '2026-03-15'), SUNDAY_TO_THURSDAY)).toBe(10);
});
