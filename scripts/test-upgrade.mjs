// `npm run test:upgrade`: runs the services of the previous release on databases that this release has migrated, alone
// and beside those of this release. `-- <ref>` names another release than the latest tag. Further arguments are
// passed to Jest.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, jest, root } from './bootstrap.mjs';
import { cacheFolder } from './program.mjs';

const git = (...args) => {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
};

const latestTag = () => {
  const [tag] = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname').split(
    '\n',
  );
  if (tag) return tag;
  throw new Error('There is no release yet. Name a commit: npm run test:upgrade -- <commit>');
};

const execute = (command, args, cwd) => {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0)
    throw new Error(`${command} failed: ${error?.message ?? `exit code ${status}`}`);
};

/** The folder of a commit with its dependencies installed; kept for later runs. */
const installed = (commit) => {
  const folder = join(cacheFolder, 'releases', commit);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const archive = join(unfinished, 'release.tar');
    git('archive', `--output=${archive}`, commit);
    execute('tar', ['--extract', `--file=${archive}`], unfinished);
    rmSync(archive);
    const prepare = "import('./scripts/bootstrap.mjs').then(({ bootstrap }) => bootstrap())";
    execute(process.execPath, ['--eval', prepare], unfinished);
    renameSync(unfinished, folder);
    return folder;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
};

const named = process.argv[2]?.startsWith('-') === false ? process.argv.splice(2, 1)[0] : undefined;
try {
  const release = named ?? latestTag();
  const commit = git('rev-parse', '--verify', '--end-of-options', `${release}^{commit}`);
  bootstrap();
  console.log(`The previous release is ${release} (${commit.slice(0, 12)}).`);
  process.env.PREVIOUS_RELEASE = installed(commit);
  jest('--config=infra/upgrade/jest.config.mjs');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
