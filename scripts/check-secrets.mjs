// `npm run check:secrets`: fails if a file of the repository contains a secret. .gitleaks.toml lists what only looks
// like one.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomInt } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { root } from './bootstrap.mjs';
import { goProgram } from './go-program.mjs';
import { isProgram } from './program.mjs';

const PLANTED = 'planted';

/** Tracked files, and those that could be added. */
const filesOfRepository = () => {
  const { status, stdout, stderr } = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 },
  );
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`);
  return stdout.split('\0').filter((file) => file && existsSync(join(root, file)));
};

/** Secrets by the rule that must find them; generated, so that no file contains them. */
const secrets = () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const accessKey = Array.from({ length: 16 }, () => characters[randomInt(characters.length)]);
  return {
    'private-key': privateKey.export({ type: 'pkcs8', format: 'pem' }),
    'aws-access-token': `AKIA${accessKey.join('')}`,
    // The value that is allowed in one test is a secret elsewhere.
    'generic-api-key': `secret: '${'GEZDGNBVGY3TQOJQ'.repeat(2)}',\n`,
  };
};

const scan = (directory) => {
  const report = join(directory, 'report.json');
  const program = goProgram('github.com/zricethezav/gitleaks/v8', 'v8.30.1');
  const { status, stderr, error } = spawnSync(
    program,
    [
      'dir',
      '--no-banner',
      '--redact',
      '--report-format=json',
      `--report-path=${report}`,
      `--config=${join(root, '.gitleaks.toml')}`,
      join(directory, 'files'),
    ],
    { encoding: 'utf8' },
  );
  // 1 means that secrets were found.
  if (status !== 0 && status !== 1) throw new Error(`gitleaks failed: ${stderr || error?.message}`);
  return JSON.parse(readFileSync(report, 'utf8')).map(({ File, StartLine, RuleID }) => ({
    file: relative(join(directory, 'files'), File),
    line: StartLine,
    rule: RuleID,
  }));
};

const write = (path, content) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};

/** Whether no file contains a secret; throws if a planted one is not found. */
export const withoutSecrets = () => {
  const directory = mkdtempSync(join(tmpdir(), 'tessera-secrets-'));
  try {
    for (const file of filesOfRepository()) {
      const copy = join(directory, 'files', file);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(root, file), copy);
    }
    const planted = secrets();
    for (const [rule, secret] of Object.entries(planted)) {
      write(join(directory, 'files', PLANTED, rule), secret);
    }
    const found = scan(directory);
    for (const rule of Object.keys(planted)) {
      const isFound = found.some((one) => one.file === join(PLANTED, rule) && one.rule === rule);
      if (!isFound) throw new Error(`A planted secret was not found: ${rule}`);
    }
    const real = found.filter(({ file }) => dirname(file) !== PLANTED);
    for (const { file, line, rule } of real) console.error(`${file}:${line}: ${rule}`);
    if (real.length > 0) {
      console.error('Revoke the secrets. What only looks like one belongs in .gitleaks.toml.');
    }
    return real.length === 0;
  } finally {
    rmSync(directory, { recursive: true });
  }
};

if (isProgram(import.meta.url)) {
  process.exitCode = withoutSecrets() ? 0 : 1;
}
