// Downloads what a test needs from Maven Central, once for each version of its pom.xml; needs no network after that.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The output of a command, or undefined if it does not exist. */
const answerOf = (command, ...args) => {
  const { error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return error ? undefined : stdout + stderr;
};

const stampOf = (directory) => join(directory, 'target', 'pom.xml');

/** Whether any version of what the directory's pom.xml names is installed. */
export const isInstalledIn = (directory) => existsSync(stampOf(directory));

/**
 * Copies the jars that the directory's pom.xml names to `target/lib`. Throws an error naming what is missing on this
 * machine or, from Maven, why something cannot be downloaded.
 */
export const installFromMaven = (name, directory) => {
  const version = Number(answerOf('java', '-version')?.match(/version "(\d+)/)?.[1] ?? 0);
  if (version < 17) {
    throw new Error(
      `${name} needs Java 17 or newer; here is ${version || 'none'}. On Debian and Ubuntu: apt-get install default-jre-headless`,
    );
  }
  const file = join(directory, 'pom.xml');
  const pom = readFileSync(file, 'utf8');
  const stamp = stampOf(directory);
  if (isInstalledIn(directory) && readFileSync(stamp, 'utf8') === pom) return;
  if (answerOf('mvn', '-version') === undefined) {
    throw new Error(
      `${name} is installed by Maven 3.6.3 or newer; here is none. On Debian and Ubuntu: apt-get install maven`,
    );
  }
  rmSync(join(directory, 'target'), { recursive: true, force: true });
  const copy = ['--batch-mode', '--quiet', '--file', file, 'dependency:copy-dependencies'];
  const { status, stdout } = spawnSync('mvn', copy, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Maven could not download ${name}:\n${stdout.trim()}`);
  writeFileSync(stamp, pom);
};
