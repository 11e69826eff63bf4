import { type Listening, listen } from '@tessera/http-kit';
import express from 'express';
import { type OpenApiDocument, type Operation, operationsOf } from './document.ts';
import type { Subject } from './subject.ts';
import { unchangedUpdates, updatesWhatIsRead } from './unchanged-updates.ts';

const getSettings = { operationId: 'getSettings', responses: { 200: {} } };
const updateSettings = {
  operationId: 'updateSettings',
  requestBody: {
    content: {
      'application/json': {
        schema: { type: 'object', properties: { name: { type: 'string', maxLength: 50 } } },
      },
    },
  },
  responses: { 200: {} },
};
const document = {
  paths: {
    '/settings': { get: getSettings, put: updateSettings },
    '/names': { put: { ...updateSettings, operationId: 'updateNames' } },
  },
  components: { schemas: {} },
} as unknown as OpenApiDocument;
const [reader, operation, writeOnly] = operationsOf(document) as [Operation, Operation, Operation];

type Flaw = 'makes a version' | 'has an event' | 'refuses what it has';

let listening: Listening;
const started = async (flaw?: Flaw): Promise<Subject> => {
  let settings = { name: '', updated: 1 };
  let events = 0;
  const app = express();
  app.use(express.json());
  const show = (res: express.Response): void => {
    res.set('ETag', `"${settings.updated}"`).json({ data: settings });
  };
  app.get('/settings', (_req, res) => show(res));
  app.put('/settings', (req, res) => {
    const isSame = req.body.name === settings.name;
    if (isSame && flaw === 'refuses what it has') {
      res.status(409).json({ error: 'conflict' });
      return;
    }
    if (!isSame || flaw === 'makes a version') {
      settings = { ...req.body, updated: settings.updated + 1 };
    }
    if (!isSame || flaw === 'has an event') events += 1;
    show(res);
  });
  listening = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  return {
    document,
    url: listening.url,
    caller: async () => ({}),
    traces: async () => events,
  };
};
afterEach(() => listening?.stop(0));

test('Updates of what can be read at the same path are checked', () => {
  const checked = [reader, operation, writeOnly].filter((one) => updatesWhatIsRead(document, one));
  expect(checked).toEqual([operation]);
});

test('A service that leaves unchanged resources as they are passes', async () => {
  expect(await unchangedUpdates(await started(), operation)).toEqual([]);
});

test.each([
  ['makes a version', /^getSettings, after updateSettings/],
  ['has an event', /left a trace/],
  ['refuses what it has', /409/],
] as const)('A service that %s is detected', async (flaw, finding) => {
  // The same request again, and what was read.
  expect(await unchangedUpdates(await started(flaw), operation)).toEqual([
    expect.stringMatching(finding),
    expect.stringMatching(finding),
  ]);
});
