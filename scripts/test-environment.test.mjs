import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const script = `
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Environment from './jest.environment.mjs';

const outside = tmpdir();
const projectConfig = { globals: {}, testEnvironmentOptions: {} };
const environment = new Environment({ projectConfig }, { testPath: 'a.test.ts', docblockPragmas: {} });
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
