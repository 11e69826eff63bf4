// Downloads Apache Kafka from Maven Central to target/lib, once for each version of pom.xml; needs no network
// after that.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const stamp = at('target/pom.xml');

export const jars = at('target/lib/*');
/** A formatted data directory, used as a template. */
export const formatted = at('target/formatted');
/** The JVM's class data archive of a start. */
export const classes = at('target/classes.jsa');
export const isInstalled = () => existsSync(stamp);

/** The output of a command, or undefined if it does not exist. */
const answerOf = (command, ...args) => {
  const { error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return error ? undefined : stdout + stderr;
};

/**
 * Throws an error naming what is missing on this machine or, from Maven, why something cannot be downloaded.
 */
export const install = () => {
  const version = Number(answerOf('java', '-version')?.match(/version "(\d+)/)?.[1] ?? 0);
  if (version < 17) {
    throw new Error(
      `Kafka needs Java 17 or newer; here is ${version || 'none'}. On Debian and Ubuntu: apt-get install default-jre-headless`,
    );
  }
  const pom = readFileSync(at('pom.xml'), 'utf8');
  if (isInstalled() && readFileSync(stamp, 'utf8') === pom) return;
  if (answerOf('mvn', '-version') === undefined) {
    throw new Error(
      'Kafka is installed by Maven 3.6.3 or newer; here is none. On Debian and Ubuntu: apt-get install maven',
    );
  }
  rmSync(at('target'), { recursive: true, force: true });
  const copy = ['--batch-mode', '--quiet', '--file', at('pom.xml'), 'dependency:copy-dependencies'];
  const { status, stdout } = spawnSync('mvn', copy, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Maven could not download Kafka:\n${stdout.trim()}`);
  writeFileSync(stamp, pom);
};
