import { timesFor } from './times.ts';

const now = new Date('2026-11-22T12:00:00Z');
const before = (seconds: number) => new Date(+now - seconds * 1000);

describe('the times of account pages', () => {
  test('use the user’s language and time zone', () => {
    const at = new Date('2026-11-03T23:30:00Z');
    expect(timesFor('en', 'UTC', now).day(at)).toBe('Tuesday, November 3, 2026');
    expect(timesFor('de', 'Europe/Berlin', now).moment(at)).toBe('4. November 2026 um 00:30');
    expect(timesFor('hu', 'Europe/Budapest', now).date(at)).toBe('2026. november 4.');
  });

  test('name today and yesterday in that time zone', () => {
    const late = new Date('2026-11-21T23:30:00Z');
    expect(timesFor('en', 'UTC', now).day(late)).toBe('Yesterday');
    expect(timesFor('de', 'Europe/Berlin', now).day(late)).toBe('Heute');
    expect(timesFor('hu', 'UTC', now).day(late)).toBe('Tegnap');
  });

  test.each([
    [10, 'now'],
    [90, '1 minute ago'],
    [7200, '2 hours ago'],
    [86_400, 'yesterday'],
    [3 * 86_400, '3 days ago'],
    [40 * 86_400, 'October 13, 2026'],
    [-60, 'now'],
  ])('show relative times: %i seconds', (seconds, words) => {
    expect(timesFor('en', 'UTC', now).ago(before(seconds))).toBe(words);
  });
});

test('yesterday is correct when the clocks change', () => {
  const [late, early] = ['2026-10-25T22:30:00Z', '2026-03-29T22:30:00Z'].map((at) =>
    timesFor('en', 'Europe/Budapest', new Date(at)),
  );
  // 23:30 on a day of 25 hours, and 00:30 after a day of 23.
  expect(late?.day(new Date('2026-10-24T12:00:00Z'))).toBe('Yesterday');
  expect(early?.day(new Date('2026-03-29T12:00:00Z'))).toBe('Yesterday');
  expect(early?.day(new Date('2026-03-28T12:00:00Z'))).toBe('Saturday, March 28, 2026');
});
