import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

test('A test fails if pg prints a deprecation warning', async () => {
  const config = {
    rootDir: at('../fixture/pg-warning'),
    testEnvironment: at('../../../jest.environment.mjs'),
    testMatch: ['**/*.test.cjs'],
  };
  const flags = ['--experimental-vm-modules', '--no-warnings', jest];
  const output = await new Promise<string>((resolve) => {
    const args = [...flags, '--config', JSON.stringify(config)];
    execFile(process.execPath, args, (_error, _stdout, stderr) => resolve(stderr));
  });
  expect(output).toMatch(
    /DeprecationWarning: Calling client\.query\(\) when the client is already/,
  );
  expect(output).toMatch(/Test Suites: 1 failed/);
});
