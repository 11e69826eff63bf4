// Compares the documents of the interfaces with those of the last release.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { goProgram } from './go-program.mjs';

export const folder = join(root, 'infra', 'compatibility');

export const documents = [
  'apps/identity/openapi.json',
  'apps/crm/openapi.json',
  'apps/crm/asyncapi.json',
  'packages/contracts/asyncapi.json',
];

export const baselineOf = (path) => join(folder, 'baseline', path);

export const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

const resolve = (document, { $ref: reference, ...rest }) =>
  reference === undefined
    ? rest
    : resolve(
        document,
        reference
          .slice(2)
          .split('/')
          .reduce((value, key) => value[key], document),
      );

const eventOperation = (message, schema, type) => {
  const { properties } = schema;
  const payload = type
    ? { ...schema, properties: { ...properties, type: { enum: [type] } } }
    : schema;
  const record = { payload, key: message.bindings?.kafka?.key, headers: message.headers };
  const parts = Object.entries(record).filter(([, part]) => part !== undefined);
  const body = {
    type: 'object',
    properties: Object.fromEntries(parts),
    required: parts.map(([name]) => name),
  };
  return {
    responses: { 200: { description: '', content: { [message.contentType]: { schema: body } } } },
  };
};

/**
 * An AsyncAPI document as OpenAPI: for a consumer, an event is what a response is for a client. Each type of
 * event becomes a path, `/<channel>/<type>`, so that each removed type is found.
 */
export const eventsAsOpenApi = (document) => {
  const received = Object.values(document.operations).filter(({ action }) => action !== 'send');
  if (received.length > 0) throw new Error('Only sent events can be compared.');
  const channels = Object.values(document.channels);
  const paths = channels.flatMap((channel) =>
    Object.values(channel.messages).flatMap((reference) => {
      const message = resolve(document, resolve(document, reference));
      const schema = resolve(document, message.payload);
      const types = schema.properties?.type?.enum ?? [undefined];
      return types.map((type) => [
        `/${channel.address}/${type ?? message.name}`,
        { get: eventOperation(message, schema, type) },
      ]);
    }),
  );
  return {
    openapi: '3.1.0',
    info: { title: 'events', version: '1' },
    paths: Object.fromEntries(paths),
    components: document.components.schemas ? { schemas: document.components.schemas } : {},
  };
};

const oasdiff = (before, after) => {
  const program = goProgram('github.com/oasdiff/oasdiff', 'v1.36.0');
  const directory = mkdtempSync(join(tmpdir(), 'tessera-compatibility-'));
  try {
    const [base, revision] = [before, after].map((document, at) => {
      const path = join(directory, `${at}.json`);
      writeFileSync(path, JSON.stringify(document));
      return path;
    });
    const levels = join(folder, 'severities.txt');
    const { status, stdout, stderr, error } = spawnSync(
      program,
      [
        'breaking',
        '--format=json',
        '--allow-external-refs=false',
        `--severity-levels=${levels}`,
        base,
        revision,
      ],
      { encoding: 'utf8', maxBuffer: 2 ** 28 },
    );
    if (status !== 0) throw new Error(`oasdiff failed: ${stderr || error?.message}`);
    return JSON.parse(stdout || '[]') ?? [];
  } finally {
    rmSync(directory, { recursive: true });
  }
};

/**
 * The breaking changes of a document: what changed, and the operations or events that it concerns.
 * @returns {{ document: string, change: string, operations: string[] }[]}
 */
export const breaks = (document, before, after) => {
  const isAsyncApi = 'asyncapi' in before;
  const changes = isAsyncApi
    ? oasdiff(eventsAsOpenApi(before), eventsAsOpenApi(after))
    : oasdiff(before, after);
  const byText = new Map();
  for (const { id, text, operation, path, name } of changes) {
    const change = `${text} (${id})`;
    const place = isAsyncApi
      ? `event ${path}`
      : path
        ? `${operation} ${path}`
        : (name ?? 'document');
    byText.set(change, [...(byText.get(change) ?? []), place]);
  }
  return [...byText].map(([change, operations]) => ({
    document,
    change,
    operations: [...new Set(operations)].sort(),
  }));
};

const places = (entries) =>
  entries.flatMap(({ document, change, operations }) =>
    operations.map((operation) => `${document}: ${operation}: ${change}`),
  );

/**
 * What is wrong: breaks that are not accepted, and accepted ones that do not exist or have no reason.
 */
export const faults = (found, accepted) => {
  const breaking = places(found);
  const allowed = places(accepted);
  return [
    ...breaking.filter((place) => !allowed.includes(place)),
    ...allowed
      .filter((place) => !breaking.includes(place))
      .map((place) => `accepted.json lists a change that does not exist: ${place}`),
    ...accepted
      .filter(({ reason }) => !reason?.trim())
      .map(({ change }) => `accepted.json gives no reason for: ${change}`),
  ];
};
