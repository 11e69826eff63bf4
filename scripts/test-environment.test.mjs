import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './bootstrap.mjs';

const script = `
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import Environment from './jest.environment.mjs';

const outside = tmpdir();
const projectConfig = { globals: {}, testEnvironmentOptions: {} };
const config = { globalConfig: {}, projectConfig };
const environment = new Environment(config, { testPath: 'a.test.ts', docblockPragmas: {} });
await environment.setup();
const inside = tmpdir();
mkdirSync(join(inside, 'files'));
writeFileSync(join(inside, 'files', 'left'), 'x');
const ofTest = environment.global.process.env.TMPDIR;
await environment.teardown();
console.log(JSON.stringify({ inside, ofTest, left: readdirSync(outside), isRestored: tmpdir() === outside }));
`;

test('What a test file leaves in the temporary directory is removed when it ends', () => {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'outside-'));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { cwd: root, encoding: 'utf8', env: { ...process.env, TMPDIR } },
  );
  expect(stderr).toBe('');
  const { inside, ofTest, left, isRestored } = JSON.parse(stdout);
  expect(inside.startsWith(join(TMPDIR, 'tessera-test-'))).toBe(true);
  expect({ ofTest, left, isRestored }).toEqual({ ofTest: inside, left: [], isRestored: true });
  expect(existsSync(inside)).toBe(false);
});

/** Runs these files with Jest in one process, as the project configures it, and returns the names of its passed tests. */
const passedIn = (files) => {
  const directory = mkdtempSync(join(tmpdir(), 'files-'));
  const report = join(directory, 'report.json');
  const config = `import base from ${JSON.stringify(join(root, 'jest.config.mjs'))};
const { globalSetup, globalTeardown, ...others } = base;
export default {
  ...others,
  rootDir: ${JSON.stringify(root)},
  roots: [${JSON.stringify(directory)}],
  testMatch: ['**/*.test.mjs'],
};`;
  for (const [name, text] of Object.entries({ ...files, 'jest.config.mjs': config })) {
    writeFileSync(join(directory, name), text);
  }
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const options = [`--config=${directory}/jest.config.mjs`, '--json', `--outputFile=${report}`];
  spawnSync(process.execPath, [...jest, ...options, '--runInBand'], { cwd: root });
  return JSON.parse(readFileSync(report, 'utf8'))
    .testResults.flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed')
    .map(({ title }) => title)
    .sort();
};

const file = `import { users } from './users.mjs';

const { jest } = import.meta;
const { length } = users;
// Modules that a later file is the first to load may import others themselves.
if (length > 0) await import('./loaded-late.mjs');
test(\`User \${length} of a module\`, () => {
  users.push('a file');
  expect([process.env.LEFT, Date.now() > 0, 'clock' in setTimeout]).toEqual([undefined, true, false]);
  process.env.LEFT = 'by a file';
  jest.useFakeTimers();
  jest.spyOn(Date, 'now').mockReturnValue(0);
});
if (length === 0) test('Only in the first file', () => {});`;

test('Test files of a process share the modules that they import, but not environment variables, spies and fake timers', () => {
  const passed = passedIn({
    'users.mjs': 'export const users = [];',
    'loaded-late.mjs': "await import('./imported-late.mjs');",
    'imported-late.mjs': '',
    'one.test.mjs': file,
    'other.test.mjs': file,
  });
  expect(passed).toEqual(['Only in the first file', 'User 0 of a module', 'User 1 of a module']);
});

/** Whether the text of a module declares a hook when it is loaded. Only the test file that loads it first would have it. */
const declaresHook = (text) => /^(?:before|after)(?:All|Each)\(/m.test(text);

test('Modules that test files share declare no hooks', () => {
  const modules = ['apps', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => {
      const sources = join(root, folder, name, 'src');
      if (!existsSync(sources)) return [];
      return readdirSync(sources, { recursive: true })
        .filter((file) => file.endsWith('.ts') && !/\.(test|d)\.ts$|^generated/.test(file))
        .map((file) => join(sources, file));
    }),
  );
  expect(modules.length).toBeGreaterThan(1000);
  const found = modules.filter((file) => declaresHook(readFileSync(file, 'utf8')));
  expect(found.map((file) => relative(root, file))).toEqual([]);
});

test('A hook in a module is found, and one that a function declares is allowed', () => {
  expect(declaresHook("import a from 'a';\nafterEach(() => expect(a).toEqual([]));\n")).toBe(true);
  expect(declaresHook('export const start = () => {\n  afterAll(stop);\n};\n')).toBe(false);
});
