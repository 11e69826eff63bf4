// Debian packages, installed without changing the machine's own apt configuration.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, succeeds } from './command.mjs';

export const RELEASE = 'trixie';
const MIRROR = 'http://deb.debian.org/debian';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Required packages of the machine, each with a file that it installs. */
const NEEDED = {
  debootstrap: '/usr/sbin/debootstrap',
  runc: '/usr/sbin/runc',
  iptables: '/usr/sbin/iptables',
  'debian-archive-keyring': KEYRING,
};

/** Throws an error naming what is missing to run our own engine on this machine. */
export const requireDebian = async () => {
  if (process.platform !== 'linux' || !(await succeeds('apt-get', ['--version']))) {
    throw new Error(
      'This requires a running Docker engine with access to an image registry, or Debian or Ubuntu to start its own engine.',
    );
  }
  if (process.getuid() !== 0) {
    throw new Error('No Docker engine is available, and only root can start one.');
  }
  const missing = Object.keys(NEEDED).filter((name) => !existsSync(NEEDED[name]));
  if (missing.length > 0) throw new Error(`Missing here: apt-get install ${missing.join(' ')}`);
};

/** Unpacks packages into a directory; apt verifies their signatures. */
export const unpack = async (packages, directory) => {
  const apt = await mkdtemp(join(tmpdir(), 'tessera-apt-'));
  try {
    const sources = join(apt, 'sources.list');
    await writeFile(sources, `deb [signed-by=${KEYRING}] ${MIRROR} ${RELEASE} main\n`);
    await mkdir(join(apt, 'lists'));
    const options = [
      `Dir::Etc::sourcelist=${sources}`,
      'Dir::Etc::sourceparts=-',
      `Dir::State::lists=${join(apt, 'lists')}`,
      `Dir::Cache=${apt}`,
      'APT::Sandbox::User=root',
    ].flatMap((option) => ['-o', option]);
    await run('apt-get', [...options, 'update'], { directory: apt });
    await run('apt-get', [...options, 'download', ...packages], { directory: apt });
    for (const file of await readdir(apt)) {
      if (file.endsWith('.deb')) await run('dpkg-deb', ['--extract', join(apt, file), directory]);
    }
  } finally {
    await rm(apt, { recursive: true });
  }
};

/** Installs a minimal Debian into a directory. */
export const bootstrapDebian = (directory) =>
  run('debootstrap', [
    '--variant=minbase',
    '--include=ca-certificates,libatomic1,libstdc++6',
    `--keyring=${KEYRING}`,
    RELEASE,
    directory,
    MIRROR,
  ]);
