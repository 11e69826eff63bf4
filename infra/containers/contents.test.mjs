import { faultsOf, SIZE_LIMIT } from './contents.mjs';

const label = (name) => [`org.opencontainers.image.${name}`, name];

const image = {
  config: {
    User: '65532:65532',
    Env: ['NODE_ENV=production', 'PORT=4000'],
    Entrypoint: ['node'],
    Cmd: ['dist/main.js'],
    Healthcheck: { Test: ['CMD', 'node', '-e', '0'] },
    Labels: Object.fromEntries(
      ['title', 'description', 'licenses', 'version', 'revision'].map(label),
    ),
  },
  history: ['COPY /app /app'],
  size: SIZE_LIMIT,
};
const entry = (path, more = {}) => ({ path, type: 'file', mode: 0o644, text: '', ...more });
const rulesOf = (entries, more = {}) =>
  faultsOf({ ...image, ...more, entries }).map(({ rule }) => rule);

test('An image with only programs and licences has no faults', () => {
  const entries = [
    entry('usr/local/bin/node', { mode: 0o755 }),
    entry('app/dist/main.js', { text: "const HEADER = '-----BEGIN PRIVATE KEY-----';" }),
    entry('app/node_modules/express/LICENSE'),
    entry('tmp', { type: 'directory', mode: 0o1777 }),
    entry('app/node_modules/pg', { type: 'symlink', mode: 0o777 }),
  ];
  expect(rulesOf(entries)).toEqual([]);
});

test.each([
  ['app/dist/app.test.js', {}, 'test file'],
  ['app/dist/main.js.map', {}, 'source map'],
  ['app/dist/main.d.ts', {}, 'TypeScript source'],
  ['usr/bin/python3.13', {}, 'package manager, compiler or shell'],
  ['app/node_modules/@prisma/engines/index.js', {}, 'development dependency'],
  ['data', { type: 'directory', mode: 0o777 }, 'writable by everybody'],
  ['root/.npmrc', {}, 'environment file or npm settings'],
])('%s in an image is a fault', (path, more, rule) => {
  expect(rulesOf([entry(path, more)])).toEqual([rule]);
});

test.each([
  ['an argument of the build', { history: ['|1 NPM_TOKEN=npm_1234 /bin/sh -c npm install'] }],
  ['a URL', { history: ['RUN git clone https://me:word@example.com/it'] }],
  ['a variable', { config: { ...image.config, Env: ['SMTP_PASSWORD=word'] } }],
])('A secret in %s is a fault', (_, more) => {
  expect(rulesOf([], more)).toEqual(['secret in the configuration']);
});

test('An image one byte above the limit is too large', () => {
  expect(rulesOf([], { size: SIZE_LIMIT + 1 })).toEqual(['too large']);
});
