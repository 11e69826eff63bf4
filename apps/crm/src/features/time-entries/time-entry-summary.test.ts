import { randomUUID } from 'node:crypto';
import { tenantForEachTest } from '../../testing/tenant.ts';

const { caller, get, post } = tenantForEachTest();
const path = '/api/crm/time-entries';
const march = 'from=2026-03-01&to=2026-03-31';

const summary = async (query: string, headers = {}) =>
  (await get(`${path}/summary?${query}`, headers).expect(200)).body;

const entry = (started_at: string, minutes: number, fields: object = {}, headers = {}) =>
  post(path, { started_at, minutes, ...fields }, headers).expect(201);

test('A summary contains the minutes of each user, project and day', async () => {
  const { body: made } = await post('/api/crm/projects', { name: 'P', key: 'SUM' }).expect(201);
  const project_id = made.data.id;
  const [ada, bob] = [randomUUID(), randomUUID()].sort() as [string, string];
  const [asAda, asBob] = [caller({ id: ada }), caller({ id: bob })];
  await entry('2026-03-02T08:00:00Z', 60, { project_id, billable: true }, asAda);
  await entry('2026-03-02T10:00:00Z', 30, {}, asAda);
  await entry('2026-03-03T08:00:00Z', 15, { project_id }, asBob);
  await entry('2026-04-01T08:00:00Z', 600, {}, asAda);
  await post(`${path}/start`, {}, asAda).expect(201);
  expect(await summary(march)).toEqual({
    data: [
      { user_id: ada, entries: 2, minutes: 90, billable_minutes: 60 },
      { user_id: bob, entries: 1, minutes: 15, billable_minutes: 0 },
    ],
    meta: { entries: 3, minutes: 105, billable_minutes: 60 },
  });
  expect((await summary(`${march}&group_by=project`)).data).toEqual([
    { project_id, entries: 2, minutes: 75, billable_minutes: 60 },
    { project_id: null, entries: 1, minutes: 30, billable_minutes: 0 },
  ]);
  expect((await summary(`${march}&group_by=user,project,day&billable=true`)).data).toEqual([
    { user_id: ada, project_id, day: '2026-03-02', entries: 1, minutes: 60, billable_minutes: 60 },
  ]);
  const ofBob = await summary(`${march}&group_by=day&user_id=${bob}&project_id=${project_id}`);
  expect(ofBob.data).toMatchObject([{ day: '2026-03-03', minutes: 15 }]);
});

test('Times are added up exactly, and each sum is rounded once', async () => {
  const { body: made } = await post('/api/crm/projects', { name: 'P', key: 'SUM' }).expect(201);
  const project_id = made.data.id;
  const short = (second: number, fields: object) => {
    const [started_at, ended_at] = [second, second + 29.5].map((at) =>
      new Date(Date.UTC(2026, 2, 2, 8) + at * 1000).toISOString(),
    );
    return post(path, { started_at, ended_at, ...fields }).expect(201);
  };
  // Each has 0 minutes when it is shown alone.
  for (const n of [0, 1, 2, 3, 4, 5]) {
    const { body } = await short(n * 60, n < 3 ? { project_id, billable: true } : {});
    expect(body.data.minutes).toBe(0);
  }
  const meta = { entries: 6, minutes: 3, billable_minutes: 1 };
  expect(await summary(march)).toMatchObject({ data: [meta], meta });
  expect(await summary(`${march}&group_by=day`)).toMatchObject({ data: [meta], meta });
  // 88.5 seconds each: their rounded sums would be 2.
  expect(await summary(`${march}&group_by=project`)).toEqual({
    data: [
      { project_id, entries: 3, minutes: 1, billable_minutes: 1 },
      { project_id: null, entries: 3, minutes: 1, billable_minutes: 0 },
    ],
    meta,
  });
});

test('Days begin and end in the given time zone', async () => {
  await entry('2026-03-01T23:30:00Z', 60);
  await entry('2026-03-31T22:30:00Z', 30);
  const budapest = await summary(`${march}&group_by=day&time_zone=Europe/Budapest`);
  expect(budapest.data).toMatchObject([{ day: '2026-03-02', minutes: 60 }]);
  const utc = await summary(`${march}&group_by=day`);
  expect(utc.data).toMatchObject([{ day: '2026-03-01' }, { day: '2026-03-31' }]);
});

test('A time zone can be given by each of its names, also former ones and those without a region', async () => {
  await entry('2026-07-01T22:30:00Z', 60);
  const july = 'from=2026-07-01&to=2026-07-03&group_by=day';
  const dayIn = async (zone: string) =>
    (await summary(`${july}&time_zone=${encodeURIComponent(zone)}`)).data[0]?.day;
  const names = ['Europe/Kiev', 'Europe/Kyiv', 'Asia/Calcutta', 'CET', 'EET', 'MET', 'Poland'];
  for (const zone of names) expect([zone, await dayIn(zone)]).toEqual([zone, '2026-07-02']);
  for (const zone of ['US/Eastern', 'EST5EDT', 'GMT', 'GMT+0', 'Etc/GMT+5', 'WET', 'Zulu']) {
    expect([zone, await dayIn(zone)]).toEqual([zone, '2026-07-01']);
  }
});

const ofDay = async (day: string, zone: string) =>
  (await summary(`from=${day}&to=${day}&group_by=day&time_zone=${zone}`)).data;

test('A day with two midnights begins with the first', async () => {
  // Clocks went back from 1:00 to 0:00.
  await entry('2026-11-01T03:59:00Z', 1);
  await entry('2026-11-01T04:00:00Z', 2);
  await entry('2026-11-01T05:30:00Z', 4);
  const zone = 'America/Havana';
  expect(await ofDay('2026-10-31', zone)).toMatchObject([{ day: '2026-10-31', minutes: 1 }]);
  expect(await ofDay('2026-11-01', zone)).toMatchObject([{ day: '2026-11-01', minutes: 6 }]);
});

test('A day without a midnight begins with its first hour', async () => {
  // Clocks went forward from 0:00 to 1:00.
  await entry('2026-03-28T21:59:00Z', 1);
  await entry('2026-03-28T22:00:00Z', 2);
  const zone = 'Asia/Beirut';
  expect(await ofDay('2026-03-28', zone)).toMatchObject([{ day: '2026-03-28', minutes: 1 }]);
  expect(await ofDay('2026-03-29', zone)).toMatchObject([{ day: '2026-03-29', minutes: 2 }]);
});

test("Without time_entries.export, a summary covers only the caller's own entries, whatever user is requested", async () => {
  const { body } = await entry('2026-03-02T08:00:00Z', 60);
  const id = randomUUID();
  const headers = caller({ id, lacking: ['time_entries.export'] });
  await entry('2026-03-02T08:00:00Z', 5, {}, headers);
  expect((await summary(march, headers)).data).toMatchObject([{ user_id: id, minutes: 5 }]);
  const ofOther = await summary(`${march}&user_id=${body.data.user_id}`, headers);
  expect(ofOther).toEqual({ data: [], meta: { entries: 0, minutes: 0, billable_minutes: 0 } });
});

test.each([
  ['from=2026-03-02&to=2026-03-01', 'to'],
  ['from=2025-01-01&to=2026-01-02', 'to'],
  [`${march}&group_by=week`, 'group_by'],
  [`${march}&time_zone=Mars/Olympus`, 'time_zone'],
  ['to=2026-03-01', 'from'],
])('A summary of %s is rejected, naming the field', async (query, field) => {
  const { status, body } = await get(`${path}/summary?${query}`);
  expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
});
